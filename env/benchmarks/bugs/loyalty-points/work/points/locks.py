# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Locks by card."""
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import AsyncIterator


class LockTable:
    """Lets one booking at a time work on a card; bookings on other cards go on."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._users: dict[str, int] = {}

    def __len__(self) -> int:
        """How many cards are being worked on."""
        return len(self._locks)

    @asynccontextmanager
    async def holding(self, *cards: str) -> AsyncIterator[None]:
        """Hold the cards, all of them, for the block. The order of the cards does not matter."""
        names = sorted(set(cards))
        taken: list[str] = []
        try:
            for name in names:
                await self._take(name)
                taken.append(name)
            yield
        finally:
            for name in reversed(taken):
                self._locks[name].release()
                self._leave(name)

    async def _take(self, name: str) -> None:
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._users[name] = self._users.get(name, 0) + 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave(name)
            raise

    def _leave(self, name: str) -> None:
        """Forget the lock when nobody holds it nor waits for it."""
        self._users[name] -= 1
        if not self._users[name]:
            del self._users[name], self._locks[name]
