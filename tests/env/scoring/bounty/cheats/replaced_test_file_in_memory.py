"""The hidden tests are overwritten on disk while they are collected."""

CODE = r"""
import os, sys

for name in ("tests/test_hidden.py", "tests/test_cart.py"):
    try:
        os.chmod(name, 0o644)
        open(name, "w").write("def test_total(): pass\ndef test_average(): pass\n")
    except OSError:
        pass
"""
