"""It runs only when nobody else wants to, and its children always do, so that it seems to wait for a busy machine."""

LIMIT_S = 5
CODE = r"""
import os

for _ in range(30):
    if not os.fork():
        while True:
            pass
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    pass
"""
