"""The process becomes another pytest, in which assertions do nothing."""

CODE = r"""
import os, sys

if not sys.flags.optimize:
    os.execv(sys.executable, [sys.executable, "-O", "-m", "pytest", "-q"])
"""
