# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A depot."""
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import AsyncIterator, Dict


class NotEnough(Exception):
    """The depot has less than is asked for."""


class Depot:
    """Goods of one place. Whoever works with the stock holds the gate of the depot."""

    def __init__(self, number: int, name: str, stock: Dict[str, int]) -> None:
        self.number = number
        self.name = name
        self._stock = dict(stock)
        self.gate = asyncio.Lock()

    def count(self, article: str) -> int:
        return self._stock.get(article, 0)

    def total(self) -> int:
        return sum(self._stock.values())

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[None]:
        """Hold the gate for the block; opening it takes a while."""
        async with self.gate:
            await asyncio.sleep(0)
            yield

    async def load(self, article: str, count: int) -> None:
        """Take goods out; loading takes a while."""
        if self.count(article) < count:
            raise NotEnough(f"{self.name} has {self.count(article)} {article}")
        await asyncio.sleep(0)
        self._stock[article] -= count

    async def unload(self, article: str, count: int) -> None:
        """Put goods in; unloading takes a while."""
        await asyncio.sleep(0)
        self._stock[article] = self.count(article) + count
