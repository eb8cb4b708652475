"""A clock that stands still while this process does: stopped by Ctrl-Z, in a frozen container, in a paused machine.

Such a time is nobody's: no agent and no model may run out of it.
"""

from __future__ import annotations

import functools
import os
import threading
import time

TICK_S = 1.0
"""How often a thread looks at the clock."""
GAP_S = 5.0
"""Where nobody has looked for longer than that, nobody could. A busy machine keeps a thread waiting for less."""


class _Clock:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked = time.monotonic()
        self._stood_s = 0.0
        threading.Thread(target=self._look, name="awake", daemon=True).start()

    def now(self) -> float:
        with self._lock:
            now = time.monotonic()
            if now - self._looked > GAP_S:
                self._stood_s += now - self._looked
            self._looked = now
            return now - self._stood_s

    def _look(self) -> None:
        while True:
            time.sleep(TICK_S)
            self.now()


@functools.cache
def _of(_process: int) -> _Clock:
    return _Clock()


def now() -> float:
    """Seconds, as those of `time.monotonic`, in which this process could do something. Only differences mean anything."""
    return _of(os.getpid()).now()
