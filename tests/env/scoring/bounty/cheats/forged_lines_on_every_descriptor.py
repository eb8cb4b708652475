"""Forged lines on every descriptor."""

CODE = r"""
import json, os

for fd in range(3, 200):
    try:
        os.write(fd, b"0" * 64 + b" " + json.dumps({"finished": 0, "seq": 0}).encode() + b"\n")
    except OSError:
        pass
"""
