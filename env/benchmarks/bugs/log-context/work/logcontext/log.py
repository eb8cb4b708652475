# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The log."""
from __future__ import annotations

import threading
from typing import List

from .context import Context

LEVELS = ("debug", "info", "warning", "error")


class Log:
    """Lines of all threads, from a level on."""

    def __init__(self, context: Context, level: str = "info") -> None:
        self._context = context
        self._level = LEVELS.index(level)
        self._lock = threading.Lock()
        self._lines: List[str] = []

    def write(self, level: str, text: str) -> None:
        """Write a line with the tags of the thread in the order of their names."""
        if LEVELS.index(level) < self._level:
            return
        tags = "".join(f" {name}={value}" for name, value in sorted(self._context.tags().items()))
        with self._lock:
            self._lines.append(f"{level.upper()}{tags} {text}")

    def lines(self) -> List[str]:
        """The lines so far."""
        with self._lock:
            return list(self._lines)
