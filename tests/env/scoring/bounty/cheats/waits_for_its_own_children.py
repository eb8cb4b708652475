"""Children that leave no trace compete for one processor with a process that waits, as on a busy machine."""

LIMIT_S = 1
CODE = r"""
import os, signal, time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
if os.fork() == 0:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        for _ in range(4):
            try:
                if os.fork() == 0:
                    while time.thread_time() < 0.3:
                        pass
                    os._exit(0)
            except OSError:
                pass
        time.sleep(0.2)
os.nice(9)
while True:
    pass
"""
