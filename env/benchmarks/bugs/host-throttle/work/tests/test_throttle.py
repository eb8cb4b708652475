# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

from throttle import Throttle


async def settle():
    """Let the other tasks run as far as they can."""
    for _ in range(20):
        await asyncio.sleep(0)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


def test_limit_per_host():
    async def main():
        throttle, gate, started = Throttle(2, 10), asyncio.Event(), []

        async def get(url):
            started.append(url)
            await gate.wait()
            return url.upper()

        urls = [f"http://one/{i}" for i in range(4)] + ["http://two/0"]
        tasks = [asyncio.ensure_future(throttle.fetch(url, get)) for url in urls]
        await settle()
        assert started == ["http://one/0", "http://one/1", "http://two/0"]
        gate.set()
        assert await asyncio.gather(*tasks) == [url.upper() for url in urls]

    run(main())


def test_aborted_while_waiting_in_line():
    async def main():
        throttle = Throttle(1, 10)

        async def get(url):
            return url

        async with throttle.slot("one"):
            task = asyncio.ensure_future(throttle.fetch("http://one/x", get))
            await settle()
            task.cancel()
            await settle()
        assert task.cancelled()
        assert throttle.host("one").free == 1

    run(main())


def test_aborted_just_before_its_turn():
    async def main():
        throttle = Throttle(1, 10)

        async def get(url):
            return url

        async with throttle.slot("one"):
            task = asyncio.ensure_future(throttle.fetch("http://one/x", get))
            await settle()
        task.cancel()
        await settle()
        assert task.cancelled()
        assert throttle.host("one").free == 1
        assert await asyncio.wait_for(throttle.fetch("http://one/y", get), 10) == "http://one/y"

    run(main())
