# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from points import Desk, NotEnough, Store


def test_bookings_at_the_same_moment():
    async def main():
        desk = Desk(Store())
        await asyncio.gather(*(desk.earn("AB123456", 10) for _ in range(5)))
        assert await desk.balance("AB123456") == 50

    asyncio.run(main())


def test_till_and_app_at_the_same_moment():
    async def main():
        desk = Desk(Store())
        await asyncio.gather(desk.earn("AB123456", 10), desk.earn("AB-123-456", 5))
        assert await desk.balance("AB123456") == 15

    asyncio.run(main())


def test_transfers_in_both_directions():
    async def main():
        desk = Desk(Store())
        await desk.earn("AB123456", 100)
        await desk.earn("CD123456", 100)
        await asyncio.gather(
            desk.transfer("AB123456", "CD123456", 30),
            desk.transfer("CD123456", "AB123456", 10),
        )
        assert await desk.balance("AB123456") == 80
        assert await desk.balance("CD123456") == 120

    asyncio.run(main())


def test_not_enough():
    async def main():
        desk = Desk(Store())
        await desk.earn("AB123456", 5)
        with pytest.raises(NotEnough):
            await desk.spend("ab 123 456", 6)
        assert await desk.balance("AB123456") == 5

    asyncio.run(main())
