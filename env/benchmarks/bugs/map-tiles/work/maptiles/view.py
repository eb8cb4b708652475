# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What a user looks at."""
from __future__ import annotations

import asyncio
from typing import List, Optional

from .cache import TileCache
from .keys import around


class View:
    """A user's window on the map. Scrolling cancels what the page before still waits for."""

    def __init__(self, cache: TileCache, reach: int = 1) -> None:
        self._cache = cache
        self._reach = reach
        self._page: "Optional[asyncio.Future[List[object]]]" = None

    def show(self, zoom: int, x: int, y: int) -> "asyncio.Future[List[object]]":
        """Begin to show a place; the result is the list of tiles, with an error in place of a tile that failed."""
        if self._page is not None:
            self._page.cancel()
        keys = around(zoom, x, y, self._reach)
        self._page = asyncio.gather(*(self._cache.get(key) for key in keys), return_exceptions=True)
        return self._page
