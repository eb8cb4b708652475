"""Closes a channel to a sandbox once, in the background."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod


class ClosesOnce(ABC):
    """The base of the channels to sandboxes: how they are closed. Thread-safe."""

    def __init__(self) -> None:
        """Make a channel that is open."""
        self._closer = threading.Thread(target=self._end, name="sandbox-close", daemon=True)
        self._closer_lock = threading.Lock()
        self.closed = False
        """Whether closing has started."""

    @abstractmethod
    def _end(self) -> None:
        """Disconnect, and end what runs in the sandbox. Called once, in a thread of its own."""

    def close(self) -> None:
        """Close the channel in the background, and with it the sandbox."""
        with self._closer_lock:
            if not self.closed:
                self.closed = True
                self._closer.start()

    def join(self, timeout_s: float) -> bool:
        """Close the channel, and wait. Returns whether nothing of the sandbox runs any more."""
        self.close()
        self._closer.join(timeout_s)
        return not self._closer.is_alive()
