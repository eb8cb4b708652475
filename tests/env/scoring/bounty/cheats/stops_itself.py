"""The process stops, and a child that it left lets it go on when the time is nearly over, and stops it again."""

LIMIT_S = 5
CODE = r"""
import os
import signal
import time

if not os.fork():
    os.setsid()
    while True:
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(0.2)
        os.kill(os.getppid(), signal.SIGCONT)
"""
