# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The catalog."""
from __future__ import annotations

from typing import Awaitable, Callable, Dict, List, Mapping, Tuple

from .rwlock import ReadWriteLock

Row = Tuple[str, int]


class Catalog:
    """Prices in cents by product. Readers never see half an update."""

    def __init__(self, prices: Mapping[str, int]) -> None:
        self._prices: Dict[str, int] = dict(prices)
        self.lock = ReadWriteLock()

    async def price(self, product: str) -> int:
        async with self.lock.read():
            return self._prices[product]

    async def export(self, send: Callable[[Row], Awaitable[None]]) -> int:
        """Send all the rows by product; returns how many."""
        async with self.lock.read():
            rows: List[Row] = sorted(self._prices.items())
            for row in rows:
                await send(row)
            return len(rows)

    async def update(self, fetch: Callable[[], Awaitable[Mapping[str, int]]]) -> None:
        """Fetch new prices and put them in, all or none."""
        async with self.lock.write():
            self._prices.update(await fetch())
