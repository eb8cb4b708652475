# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The price list."""
from __future__ import annotations

from typing import Awaitable, Callable, Dict, List, Mapping, Tuple

from .gate import Gate

Pause = Callable[[], Awaitable[object]]


class PriceList:
    """Prices in cents. All prices a reader sees belong to the same version."""

    def __init__(self, prices: Mapping[str, int]) -> None:
        self._prices: Dict[str, int] = dict(prices)
        self.gate = Gate()
        self.version = 1

    async def change(self, prices: Mapping[str, int], pause: Pause) -> int:
        """Set several prices, with a pause after each; return the new version."""
        async with self.gate.writing():
            for article, price in prices.items():
                self._prices[article] = price
                await pause()
            self.version += 1
            return self.version

    async def window(self, articles: List[str], pause: Pause) -> Tuple[int, List[int]]:
        """Version and prices of some articles, with a pause after each."""
        async with self.gate.reading():
            result = []
            for article in articles:
                result.append(self._prices[article])
                await pause()
            return self.version, result
