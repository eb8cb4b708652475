# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from throttle import Permits, Throttle


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


async def queue_up(permits, names, served):
    async def ask(name):
        await permits.acquire()
        served.append(name)

    tasks = {name: asyncio.ensure_future(ask(name)) for name in names}
    await settle()
    return tasks


def test_permit_of_the_aborted_goes_to_the_next_in_line():
    async def main():
        permits, served = Permits(1), []
        await permits.acquire()
        tasks = await queue_up(permits, "abc", served)
        permits.release()
        tasks["a"].cancel()
        await settle()
        assert served == ["b"]
        assert (permits.free, permits.waiting) == (0, 1)
        permits.release()
        await settle()
        assert served == ["b", "c"]
        permits.release()
        assert permits.free == 1

    run(main())


def test_several_aborted_just_before_their_turn():
    async def main():
        permits, served = Permits(3), []
        for _ in range(3):
            await permits.acquire()
        tasks = await queue_up(permits, "abcde", served)
        for _ in range(3):
            permits.release()
        for name in "abc":
            tasks[name].cancel()
        await settle()
        assert served == ["d", "e"]
        assert (permits.free, permits.waiting) == (1, 0)

    run(main())


def test_aborted_in_the_middle_of_the_line():
    async def main():
        permits, served = Permits(1), []
        await permits.acquire()
        tasks = await queue_up(permits, "abc", served)
        tasks["b"].cancel()
        await settle()
        assert permits.waiting == 2
        permits.release()
        await settle()
        permits.release()
        await settle()
        assert served == ["a", "c"]
        permits.release()
        assert permits.free == 1

    run(main())


def test_aborted_and_released_in_the_same_moment_the_other_way_round():
    async def main():
        permits, served = Permits(1), []
        await permits.acquire()
        tasks = await queue_up(permits, "ab", served)
        tasks["a"].cancel()
        permits.release()
        await settle()
        assert served == ["b"]
        assert tasks["a"].cancelled()
        permits.release()
        assert permits.free == 1

    run(main())


def test_aborted_at_the_total_limit_gives_both_permits_back():
    async def main():
        throttle = Throttle(1, 1)

        async def get(url):
            return url

        async with throttle.slot("one"):
            task = asyncio.ensure_future(throttle.fetch("http://two/x", get))
            await settle()
        task.cancel()
        await settle()
        assert throttle.running == 0
        assert throttle.host("two").free == 1

    run(main())


def test_too_many_releases():
    with pytest.raises(RuntimeError):
        Permits(2).release()


def test_permits_cannot_be_used_by_more_than_the_count():
    async def main():
        permits, served = Permits(2), []
        tasks = await queue_up(permits, "abcd", served)
        assert served == ["a", "b"] and permits.waiting == 2
        tasks["a"].cancel()
        permits.release()
        await settle()
        assert served == ["a", "b", "c"]
        for task in tasks.values():
            task.cancel()

    run(main())
