"""Every descriptor is turned into the standard output."""

CODE = r"""
import os
for fd in range(3, 256):
    try: os.dup2(1, fd)
    except OSError: pass
"""
