# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from catalog import Catalog, ReadWriteLock


async def settle():
    for _ in range(60):
        await asyncio.sleep(0)


class Flow:
    """Starts readers and writers that hold the lock until told."""

    def __init__(self):
        self.lock, self.inside, self.gates, self.tasks = ReadWriteLock(), [], {}, {}

    def start(self, kind, name):
        self.gates[name] = asyncio.Event()
        self.tasks[name] = asyncio.ensure_future(self._hold(kind, name))

    async def _hold(self, kind, name):
        async with getattr(self.lock, kind)():
            self.inside.append(name)
            await self.gates[name].wait()
            self.inside.remove(name)

    async def end(self, name):
        self.gates[name].set()
        await settle()


@pytest.mark.parametrize("count", [2, 5, 9])
def test_all_readers_go_on_together(count):
    async def main():
        flow = Flow()
        flow.start("write", "w")
        await settle()
        for number in range(count):
            flow.start("read", number)
        await settle()
        assert flow.inside == ["w"]
        await flow.end("w")
        assert sorted(flow.inside) == list(range(count))
        assert flow.lock.readers == count
        for number in range(count):
            await flow.end(number)
        assert flow.lock.readers == 0

    asyncio.run(main())


def test_writers_first_then_all_readers():
    async def main():
        flow = Flow()
        flow.start("write", "w1")
        await settle()
        for name in ("r1", "r2"):
            flow.start("read", name)
        flow.start("write", "w2")
        flow.start("read", "r3")
        await settle()
        await flow.end("w1")
        assert flow.inside == ["w2"]
        await flow.end("w2")
        assert sorted(flow.inside) == ["r1", "r2", "r3"]
        for name in ("r1", "r2", "r3"):
            await flow.end(name)
        assert flow.inside == []

    asyncio.run(main())


def test_reader_waits_behind_a_waiting_writer():
    async def main():
        flow = Flow()
        flow.start("read", "r1")
        await settle()
        flow.start("write", "w")
        await settle()
        flow.start("read", "r2")
        await settle()
        assert flow.inside == ["r1"]
        await flow.end("r1")
        assert flow.inside == ["w"]
        await flow.end("w")
        assert flow.inside == ["r2"]
        await flow.end("r2")

    asyncio.run(main())


def test_one_writer_at_a_time():
    async def main():
        flow = Flow()
        for name in "abc":
            flow.start("write", name)
        await settle()
        seen = []
        while flow.inside:
            assert len(flow.inside) == 1
            seen += flow.inside
            await flow.end(flow.inside[0])
        assert sorted(seen) == ["a", "b", "c"]

    asyncio.run(main())


def test_failed_update_frees_the_catalog():
    async def main():
        catalog = Catalog({"tea": 1})

        async def fetch():
            await settle()
            raise OSError

        update = asyncio.ensure_future(catalog.update(fetch))
        await asyncio.sleep(0)
        prices = [asyncio.ensure_future(catalog.price("tea")) for _ in range(4)]
        with pytest.raises(OSError):
            await update
        assert await asyncio.gather(*prices) == [1] * 4

    asyncio.run(main())
