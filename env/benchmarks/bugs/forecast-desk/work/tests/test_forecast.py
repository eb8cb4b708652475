# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from forecast import Desk, Forecast


class Source:
    def __init__(self):
        self.asked, self.gate, self.error = [], asyncio.Event(), None

    async def __call__(self, city):
        self.asked.append(city)
        await self.gate.wait()
        if self.error:
            raise self.error
        return Forecast(city, len(city))


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


def test_one_fetch_for_all():
    async def main():
        source = Source()
        desk = Desk(source)
        tasks = [asyncio.ensure_future(desk.forecast(c)) for c in ("Rome", "rome ", "Oslo")]
        await settle()
        source.gate.set()
        assert [f.celsius for f in await asyncio.gather(*tasks)] == [4, 4, 4]
        assert source.asked == ["rome", "oslo"]
        assert await desk.board(["rome", "oslo"]) == ["rome: +4.0 C, clear", "oslo: +4.0 C, clear"]
        assert len(source.asked) == 2

    run(main())


def test_one_asker_leaves():
    async def main():
        source = Source()
        desk = Desk(source)
        leaving, staying = [asyncio.ensure_future(desk.forecast("Rome")) for _ in range(2)]
        await settle()
        leaving.cancel()
        await settle()
        source.gate.set()
        await settle()
        assert leaving.cancelled()
        assert not staying.cancelled()
        assert (await staying).city == "rome"

    run(main())


def test_failure_reaches_all_and_is_not_kept():
    async def main():
        source = Source()
        source.error = OSError("no line")
        source.gate.set()
        desk = Desk(source)
        outcomes = await asyncio.gather(*[desk.forecast("Rome") for _ in range(2)], return_exceptions=True)
        assert [type(o) for o in outcomes] == [OSError, OSError]
        source.error = None
        assert (await desk.forecast("Rome")).city == "rome"
        assert len(source.asked) == 2

    run(main())
