# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The cache."""
from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Awaitable, Callable, Dict

from .keys import Key

Load = Callable[[Key], Awaitable[str]]


class TileCache:
    """Up to `size` tiles. A tile that several want at the same time is loaded only once.

    Whoever asks can be cancelled at any time; that SHALL not matter to others who ask for the same tile. Errors of
    loading are told to all who wait; the next who asks makes another attempt.
    """

    def __init__(self, load: Load, size: int = 100) -> None:
        self._load = load
        self._size = size
        self._tiles: "OrderedDict[Key, str]" = OrderedDict()
        self._loading: Dict[Key, "asyncio.Task[str]"] = {}

    def __len__(self) -> int:
        return len(self._tiles)

    @property
    def loading(self) -> int:
        """How many tiles are being loaded."""
        return len(self._loading)

    async def get(self, key: Key) -> str:
        """The tile, from the cache or loaded."""
        if key in self._tiles:
            self._tiles.move_to_end(key)
            return self._tiles[key]
        task = self._loading.get(key)
        if task is None:
            task = self._loading[key] = asyncio.ensure_future(self._fetch(key))
        return await task

    async def _fetch(self, key: Key) -> str:
        try:
            tile = await self._load(key)
        finally:
            del self._loading[key]
        self._tiles[key] = tile
        while len(self._tiles) > self._size:
            self._tiles.popitem(last=False)
        return tile
