# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio
from itertools import product

import pytest

from points import BadCard, Desk, NotEnough, Store

SPELLINGS = ["AB123456", "ab123456", "AB 123 456", "AB-123456", "ab.123.456", " AB123456 "]


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


def test_all_spellings_at_once():
    async def main():
        desk = Desk(Store())
        balances = await asyncio.gather(*(desk.earn(card, 10) for card in SPELLINGS))
        assert sorted(balances) == [10, 20, 30, 40, 50, 60]
        assert await desk.balance("AB123456") == 60

    run(main())


def test_points_cannot_be_spent_twice():
    async def main():
        desk = Desk(Store())
        await desk.earn("AB123456", 10)
        outcomes = await asyncio.gather(*(desk.spend(card, 10) for card in SPELLINGS), return_exceptions=True)
        assert [type(o) for o in outcomes].count(NotEnough) == len(SPELLINGS) - 1
        assert await desk.balance("AB123456") == 0

    run(main())


def test_opposite_transfers_in_several_spellings():
    async def main():
        desk = Desk(Store())
        await desk.earn("AB123456", 100)
        await desk.earn("CD123456", 100)
        await asyncio.gather(
            desk.transfer("ab123456", "CD123456", 30),
            desk.transfer("CD-123456", "AB 123456", 10),
            desk.transfer("cd123456", "AB.123456", 5),
        )
        assert await desk.balance("AB123456") == 85
        assert await desk.balance("CD123456") == 115

    run(main())


def test_transfer_to_the_same_card_is_refused():
    async def main():
        with pytest.raises(ValueError):
            await Desk(Store()).transfer("AB123456", "ab-123456", 1)

    run(main())


def test_different_cards_do_not_wait_for_each_other():
    async def main():
        desk = Desk(Store())
        async with desk.locks.holding("AB123456"):
            assert await desk.earn("AB123457", 1) == 1
            waiting = asyncio.ensure_future(desk.earn("AB-123456", 1))
            for _ in range(5):
                await asyncio.sleep(0)
            assert not waiting.done()
        assert await waiting == 1

    run(main())


def test_locks_are_forgotten():
    async def main():
        desk = Desk(Store())
        task = None
        async with desk.locks.holding("AB123456", "AB123457"):
            assert len(desk.locks) == 2
            task = asyncio.ensure_future(desk.earn("AB123456", 1))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        assert len(desk.locks) == 0
        await desk.earn("AB123456", 1)
        assert len(desk.locks) == 0

    run(main())


def test_bad_card():
    with pytest.raises(BadCard):
        run(Desk(Store()).earn("12", 1))


@pytest.mark.parametrize("first, second", [("AB123456", "CD123456"), ("CD123456", "AB123456")])
@pytest.mark.parametrize("giver, taker", list(product(["AB123456", "ab-123456", " ab123456"], ["CD123456", "cd 123456"])))
def test_no_two_transfers_wait_for_each_other(first, second, giver, taker):
    async def settle():
        for _ in range(60):
            await asyncio.sleep(0)

    async def main():
        desk = Desk(Store())
        await desk.earn("AB123456", 100)
        await desk.earn("CD123456", 100)
        async with desk.locks.holding(first):
            async with desk.locks.holding(second):
                both = [desk.transfer(giver, taker, 10), desk.transfer("CD123456", "AB123456", 3)]
                tasks = [asyncio.ensure_future(one) for one in both]
                await settle()
            await settle()
        await settle()
        done = [task.done() for task in tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return done, await desk.balance("AB123456"), len(desk.locks)

    assert run(main()) == ([True, True], 93, 0)
