"""What an environment shares with its branches: a pool of sandboxes."""

from __future__ import annotations

import threading

from stackrank.env.sandbox.pool import Pool


class PoolShare:
    """Closes a pool when the last of those who hold it has left. Thread-safe."""

    def __init__(self, pool: Pool, *, closes: bool) -> None:
        """`closes`: whether the pool is closed at all; else somebody else does it."""
        self.pool = pool
        self.closes = closes
        self._holders = 0
        self._lock = threading.Lock()

    def hold(self) -> PoolShare:
        """Count one more holder, and return this."""
        with self._lock:
            self._holders += 1
        return self

    def leave(self) -> None:
        """Count one holder less; after the last, close the pool."""
        with self._lock:
            self._holders -= 1
            is_last = self._holders == 0
        if is_last and self.closes:
            self.pool.close()
