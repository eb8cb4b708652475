# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

from catalog import Catalog


async def settle():
    for _ in range(30):
        await asyncio.sleep(0)


def start(coroutine):
    return asyncio.ensure_future(coroutine)


def test_readers_side_by_side():
    async def main():
        catalog, gate = Catalog({"tea": 300, "jam": 250}), asyncio.Event()

        async def send(row):
            await gate.wait()

        export = start(catalog.export(send))
        await settle()
        assert await asyncio.wait_for(catalog.price("tea"), 10) == 300
        gate.set()
        assert await export == 2

    asyncio.run(main())


def test_readers_after_an_update():
    async def main():
        catalog, gate, fetched = Catalog({"tea": 300}), asyncio.Event(), asyncio.Event()

        async def fetch():
            await fetched.wait()
            return {"tea": 350, "jam": 200}

        async def send(row):
            await gate.wait()

        update = start(catalog.update(fetch))
        await settle()
        export, price = start(catalog.export(send)), start(catalog.price("tea"))
        await settle()
        assert not price.done()
        fetched.set()
        await settle()
        assert update.done()
        assert price.done() and price.result() == 350
        assert not export.done()
        gate.set()
        assert await export == 2

    asyncio.run(main())


def test_update_waits_for_readers():
    async def main():
        catalog, gate, seen = Catalog({"a": 1, "b": 2}), asyncio.Event(), []

        async def send(row):
            seen.append(row)
            await gate.wait()

        async def fetch():
            return {"a": 10, "b": 20}

        export, update = start(catalog.export(send)), start(catalog.update(fetch))
        await settle()
        assert not update.done()
        gate.set()
        await asyncio.gather(export, update)
        assert seen == [("a", 1), ("b", 2)]
        assert await catalog.price("b") == 20

    asyncio.run(main())
