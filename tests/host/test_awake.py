"""The clock that stops while its process is stopped."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil

from tests.support.waiting import run_out, wait_for

CHILD = """
from stackrank.host import awake
awake.TICK_S, awake.GAP_S = 0.05, 0.5
began = awake.now()
print("ready", flush=True)
input()
print(awake.now() - began)
"""


def test_clock_stops_while_the_process_is_stopped() -> None:
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdin is not None and child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        began = time.monotonic()
        child.send_signal(signal.SIGSTOP)
        wait_for(lambda: psutil.Process(child.pid).status() == psutil.STATUS_STOPPED, "a stopped process")
        stopped = time.monotonic()
        time.sleep(run_out(1.5))
        stood_s = time.monotonic() - stopped
        child.send_signal(signal.SIGCONT)
        moved_s = float(child.communicate("\n", timeout=600)[0])
        took_s = time.monotonic() - began
    finally:
        child.kill()
    # Some moments before the stop are taken for a part of it.
    assert 0 <= moved_s <= took_s - stood_s + 0.1
