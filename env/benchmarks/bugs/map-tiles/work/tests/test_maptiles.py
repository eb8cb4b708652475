# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

from maptiles import TileCache, View


class Source:
    """Loads tiles when the gate is opened."""

    def __init__(self):
        self.gate = asyncio.Event()
        self.calls = []

    async def __call__(self, key):
        self.calls.append(key)
        await self.gate.wait()
        return "tile {}/{}/{}".format(*key)


async def settle():
    for _ in range(30):
        await asyncio.sleep(0)


def test_loaded_once():
    async def main():
        source = Source()
        cache = TileCache(source)
        pages = [View(cache, 0).show(3, 1, 2), View(cache, 0).show(3, 1, 2)]
        await settle()
        source.gate.set()
        assert [await page for page in pages] == [["tile 3/1/2"]] * 2
        assert len(source.calls) == 1

    asyncio.run(main())


def test_corner():
    async def main():
        source = Source()
        source.gate.set()
        assert await View(TileCache(source)).show(1, 0, 0) == ["tile 1/0/0", "tile 1/1/0", "tile 1/0/1", "tile 1/1/1"]

    asyncio.run(main())


def test_another_user_scrolls_away():
    async def main():
        source = Source()
        cache = TileCache(source)
        first, second = View(cache, 0), View(cache, 0)
        first.show(3, 1, 2)
        page = second.show(3, 1, 2)
        await settle()
        first.show(3, 7, 7)
        await settle()
        source.gate.set()
        assert await page == ["tile 3/1/2"]

    asyncio.run(main())
