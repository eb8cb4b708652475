# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A fair counter of permits for asyncio."""
from __future__ import annotations

import asyncio
from collections import deque


class Permits:
    """`count` permits. Whoever asks when none is free waits, and is served in the order of asking.

    A permit that comes back is handed to the first who waits. A task may be cancelled at any time while
    it waits; no permit is ever lost.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError("at least one permit is needed")
        self.count = count
        self._free = count
        self._line: deque[asyncio.Future[None]] = deque()

    @property
    def free(self) -> int:
        return self._free

    @property
    def waiting(self) -> int:
        return sum(1 for place in self._line if not place.done())

    async def acquire(self) -> None:
        """Take a permit, waiting for one if need be."""
        if self._free > 0 and not self.waiting:
            self._free -= 1
            return
        place = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place in self._line:
                self._line.remove(place)
            raise

    def release(self) -> None:
        """Give a permit back."""
        while self._line:
            place = self._line.popleft()
            if not place.done():
                place.set_result(None)
                return
        if self._free == self.count:
            raise RuntimeError("more permits came back than there are")
        self._free += 1
