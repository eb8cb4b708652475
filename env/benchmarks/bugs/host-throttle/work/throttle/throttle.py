# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The throttle: permits per host and for all hosts together."""
from __future__ import annotations

from contextlib import asynccontextmanager
from typing import AsyncIterator, Awaitable, Callable, TypeVar
from urllib.parse import urlsplit

from .permits import Permits

T = TypeVar("T")


class Throttle:
    """At most `per_host` requests run at the same time on one host, at most `total` on all of them."""

    def __init__(self, per_host: int, total: int) -> None:
        self._per_host = per_host
        self._hosts: dict[str, Permits] = {}
        self._all = Permits(total)

    def host(self, name: str) -> Permits:
        """The permits of one host."""
        return self._hosts.setdefault(name, Permits(self._per_host))

    @property
    def running(self) -> int:
        """How many requests run."""
        return self._all.count - self._all.free

    @asynccontextmanager
    async def slot(self, name: str) -> AsyncIterator[None]:
        """Hold a permit of the host, and one of the total, for the block."""
        permits = self.host(name)
        await permits.acquire()
        try:
            await self._all.acquire()
            try:
                yield
            finally:
                self._all.release()
        finally:
            permits.release()

    async def fetch(self, url: str, get: Callable[[str], Awaitable[T]]) -> T:
        """Get `url` when its host has a free slot."""
        async with self.slot(urlsplit(url).netloc):
            return await get(url)
