"""Waiting for conditions in tests, never for a fixed time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeVar

import psutil
import pytest

T = TypeVar("T")
SHARE, LONGEST_S = 8, 0.25
"""Between two looks a wait rests this many times as long as a look took of the processor, up to so many seconds: what
is waited for needs the processor. A fact that lasts shorter than that is not to be waited for."""


def wait_for(
    condition: Callable[[], T],
    description: object | Callable[[], object],
    timeout_s: float = 600,
    every_s: float = 0.02,
) -> T:
    """Wait until a condition holds, and return what it found. `what` it is, or a function that tells what there is
    instead, is the error.

    The limit is for what never happens: a busy machine takes many times as long as a quiet one. `every_s` is how often
    to look at most; a condition that asks a server needs it longer.
    """
    deadline = time.monotonic() + timeout_s
    began = time.thread_time()
    while not (outcome := condition()):
        assert time.monotonic() < deadline, f"timeout: {description() if callable(description) else description}"
        time.sleep(max(every_s, min(SHARE * (time.thread_time() - began), LONGEST_S)))
        began = time.thread_time()
    return outcome


def runs(process: psutil.Process) -> bool:
    """Whether a process is still running; a zombie is not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended in between
        return False


def _load() -> float:
    """How many processes want each processor, now or in the last minute; 1 where none has to wait."""
    running = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    return max(1.0, max(os.getloadavg()[0], running) / (os.cpu_count() or 1))


def run_out(seconds: float) -> float:
    """A time limit that a test lets run out: short on a quiet machine, longer on a busy one."""
    return seconds * _load()


def missing(reason: str) -> NoReturn:
    """Skip the test for want of something on this machine; continuous integration has everything, and fails."""
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI has to test with it")
    pytest.skip(reason)
