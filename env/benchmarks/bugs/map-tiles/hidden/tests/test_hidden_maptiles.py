# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from maptiles import TileCache
from maptiles.keys import Key, around


class Source:
    def __init__(self):
        self.gate = asyncio.Event()
        self.calls = []
        self.error = None

    async def __call__(self, key):
        self.calls.append(key)
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return "t{}{}{}".format(*key)


async def settle():
    for _ in range(30):
        await asyncio.sleep(0)


KEY = Key(2, 1, 1)


def start(cache, count, key=KEY):
    return [asyncio.ensure_future(cache.get(key)) for _ in range(count)]


@pytest.mark.parametrize("gone", [[0], [1], [2], [0, 1], [1, 2], [0, 2]])
def test_anyone_cancelled(gone):
    async def main():
        source = Source()
        cache = TileCache(source)
        tasks = start(cache, 3)
        await settle()
        for number in gone:
            tasks[number].cancel()
        await settle()
        source.gate.set()
        await settle()
        for number, task in enumerate(tasks):
            assert task.done()
            if number in gone:
                assert task.cancelled()
            else:
                assert task.result() == "t211"
        assert source.calls == [KEY]

    asyncio.run(main())


def test_cancelled_before_the_load_began():
    async def main():
        source = Source()
        cache = TileCache(source)
        tasks = start(cache, 2)
        await asyncio.sleep(0)
        tasks[0].cancel()
        await settle()
        source.gate.set()
        assert await tasks[1] == "t211"

    asyncio.run(main())


def test_asked_again_after_cancelling():
    async def main():
        source = Source()
        cache = TileCache(source)
        (task,) = start(cache, 1)
        await settle()
        task.cancel()
        await settle()
        (again,) = start(cache, 1)
        await settle()
        source.gate.set()
        assert await again == "t211"
        assert cache.loading == 0 and len(cache) == 1

    asyncio.run(main())


def test_error_is_told_to_all_and_forgotten():
    async def main():
        source = Source()
        cache = TileCache(source)
        source.error = OSError("no tile")
        tasks = start(cache, 2)
        source.gate.set()
        await settle()
        assert [str(task.exception()) for task in tasks] == ["no tile"] * 2
        source.error = None
        assert await cache.get(KEY) == "t211"
        assert len(source.calls) == 2

    asyncio.run(main())


def test_oldest_tiles_go():
    async def main():
        source = Source()
        source.gate.set()
        cache = TileCache(source, size=2)
        for x in (0, 1, 0, 2, 0, 1):
            await cache.get(Key(2, x, 0))
        assert [key.x for key in source.calls] == [0, 1, 2, 1]

    asyncio.run(main())


def test_around():
    assert [key[1:] for key in around(2, 3, 0, 1)] == [(2, 0), (3, 0), (2, 1), (3, 1)]
