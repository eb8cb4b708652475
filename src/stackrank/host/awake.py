"""A clock that stops while this process is suspended: by Ctrl-Z, in a frozen container, or on a paused machine.

Suspended time counts against nobody: no agent and no model may run out of time because of it.
"""

from __future__ import annotations

import functools
import os
import threading
import time

TICK_S = 1.0
"""Seconds between two looks of the thread at the clock."""
GAP_S = 5.0
"""If nobody has looked at the clock for longer than this, the process was suspended. A busy machine delays a thread for
less."""


class _Clock:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stood_s = 0.0
        threading.Thread(target=self._look, name="awake", daemon=True).start()

    def now(self) -> float:
        with self._lock:
            monotonic = time.monotonic()
            if monotonic - self._looked > GAP_S:
                self._stood_s += monotonic - self._looked
            self._looked = monotonic
            return monotonic - self._stood_s

    def _look(self) -> None:
        while True:
            time.sleep(TICK_S)
            self.now()


@functools.cache
def _of(_process: int) -> _Clock:
    return _Clock()


def now() -> float:
    """Seconds as of `time.monotonic`, minus the time this process was suspended. Only differences mean anything."""
    return _of(os.getpid()).now()
