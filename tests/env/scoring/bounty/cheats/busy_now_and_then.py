"""A hang that works a little, so that it waits for a processor wherever others work, and uses next to nothing."""

LIMIT_S = 5
CODE = r"""
import os
import time

os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while True:
    time.sleep(0.001)
    sum(range(1000))
"""
