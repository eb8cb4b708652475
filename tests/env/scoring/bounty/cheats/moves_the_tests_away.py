"""The folder of the tests is replaced by one with a pipe."""

CODE = r"""
import os
os.rename("tests", "away")
os.mkdir("tests")
os.mkfifo("tests/test_hidden.py")
"""
