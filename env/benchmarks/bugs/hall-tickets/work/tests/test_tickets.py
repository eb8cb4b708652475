# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from tickets import Hall, Office, Taken
from tickets.payment import Bank, Declined


def office(poor=()):
    return Office(Hall({"A1": 40, "A2": 40, "B1": 25}), Bank(set(poor)))


def test_one_after_the_other():
    one = office()
    asyncio.run(one.buy("ann", "A1"))
    with pytest.raises(Taken):
        asyncio.run(one.buy("bob", "A1"))
    assert one.hall.owner("A1") == "ann"
    assert one.bank.paid == {"ann": 40}


def test_declined():
    one = office(poor=["eve"])
    with pytest.raises(Declined):
        asyncio.run(one.buy("eve", "B1"))
    assert one.hall.free_seats() == ["A1", "A2", "B1"]


def test_both_at_the_same_time():
    one = office()

    async def main():
        return await asyncio.gather(one.buy("ann", "A1"), one.buy("bob", "A1"), return_exceptions=True)

    results = asyncio.run(main())
    assert [type(result).__name__ for result in results] == ["Ticket", "Taken"]
    assert one.bank.paid == {"ann": 40}
