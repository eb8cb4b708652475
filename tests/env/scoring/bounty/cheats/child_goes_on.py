"""A child of the process says that all is well."""

CODE = r"""
import os

if os.fork() == 0:
    os._exit(0)
os.wait()
os._exit(0)
"""
