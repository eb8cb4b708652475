# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The desk where forecasts are asked for."""
from __future__ import annotations

import asyncio
import time
from typing import Awaitable, Callable, Iterable, List

from .kept import Kept
from .model import Forecast
from .shared import Shared

Fetch = Callable[[str], Awaitable[Forecast]]


class Desk:
    """Answers for forecasts; fetches each only once in `seconds`, however many ask for it."""

    def __init__(
        self, fetch: Fetch, seconds: float = 600, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._fetch = fetch
        self._kept: Kept[Forecast] = Kept(seconds, clock)
        self._shared = Shared(self._load)

    async def forecast(self, city: str) -> Forecast:
        """The forecast of a city, kept or fetched."""
        name = city.strip().casefold()
        known = self._kept.get(name)
        if known is not None:
            return known
        return await self._shared.ask(name)

    async def board(self, cities: Iterable[str]) -> List[str]:
        """The lines of several cities, fetched side by side."""
        return [found.line() for found in await asyncio.gather(*map(self.forecast, cities))]

    async def _load(self, name: str) -> Forecast:
        found = await self._fetch(name)
        self._kept.put(name, found)
        return found
