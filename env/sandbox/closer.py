"""Closes a sandbox once, in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Closer:
    """Closes a channel once. Thread-safe."""

    def __init__(self, close: Callable[[], None]) -> None:
        """`close` runs once, in a thread of its own."""
        self._thread = threading.Thread(target=close, name="sandbox-close", daemon=True)
        self._lock = threading.Lock()
        self.started = False

    def start(self) -> None:
        """Start closing, unless that has started. Returns at once."""
        with self._lock:
            if not self.started:
                self.started = True
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Start closing, and wait. Returns whether it is closed."""
        self.start()
        self._thread.join(timeout_s)
        return not self._thread.is_alive()
