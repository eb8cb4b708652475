"""Ends a sandbox once, in the background, whoever asks for it first."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Ending:
    """The end of a channel. Thread-safe."""

    def __init__(self, end: Callable[[], None]) -> None:
        """`end` runs once, in a thread of its own."""
        self._thread = threading.Thread(target=end, name="sandbox-close", daemon=True)
        self._beginning = threading.Lock()
        self.begun = False

    def begin(self) -> None:
        """Begin it, unless it has begun. Returns at once."""
        with self._beginning:
            if not self.begun:
                self.begun = True
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Begin it, and wait. Returns whether it is over."""
        self.begin()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()
