# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

from pricegate import PriceList
from pricegate.notice import all_windows


async def settle():
    for _ in range(50):
        await asyncio.sleep(0)


def no_pause():
    return asyncio.sleep(0)


def test_windows_without_a_change():
    async def main():
        prices = PriceList({"tea": 300, "jam": 250})
        return await all_windows(prices, {"b": ["jam"], "a": ["tea", "jam"]}, no_pause)

    assert asyncio.run(main()) == ["a v1: 300, 250", "b v1: 250"]


def test_change_waits_for_readers():
    async def main():
        prices, gate = PriceList({"tea": 300}), asyncio.Event()
        window = asyncio.ensure_future(prices.window(["tea"], gate.wait))
        await settle()
        change = asyncio.ensure_future(prices.change({"tea": 310}, no_pause))
        await settle()
        assert not change.done()
        gate.set()
        assert await window == (1, [300])
        assert await change == 2

    asyncio.run(main())


def test_windows_that_waited_for_a_change():
    async def main():
        prices, writing, reading = PriceList({"tea": 300}), asyncio.Event(), asyncio.Event()
        change = asyncio.ensure_future(prices.change({"tea": 320}, writing.wait))
        await settle()
        windows = [asyncio.ensure_future(prices.window(["tea"], reading.wait)) for _ in range(3)]
        await settle()
        assert prices.gate.readers == 0
        writing.set()
        await settle()
        assert change.done()
        together = prices.gate.readers
        reading.set()
        assert await asyncio.gather(*windows) == [(2, [320])] * 3
        assert together == 3

    asyncio.run(main())
