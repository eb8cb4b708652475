# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from tickets import Hall, Office, Taken
from tickets.payment import Bank, Declined


def office(poor=(), seats="abc"):
    return Office(Hall({seat: 10 for seat in seats}), Bank(set(poor)))


def together(*coroutines):
    async def main():
        return await asyncio.gather(*coroutines, return_exceptions=True)

    return [type(result).__name__ for result in asyncio.run(main())]


def test_many_want_one_seat():
    one = office()
    assert together(*(one.buy(f"c{n}", "b") for n in range(5))) == ["Ticket"] + ["Taken"] * 4
    assert one.bank.paid == {"c0": 10}
    assert [ticket.seat for ticket in one.tickets] == ["b"]


def test_any_seat():
    one = office()
    assert together(*(one.buy_any(f"c{n}", "abc") for n in range(4))) == ["Ticket"] * 3 + ["Taken"]
    assert {one.hall.owner(seat) for seat in "abc"} == {"c0", "c1", "c2"}
    assert sum(one.bank.paid.values()) == 30


def test_seat_is_free_again_after_a_refusal():
    one = office(poor=["eve"])
    assert together(one.buy("eve", "a"), one.buy("ann", "a")) == ["Declined", "Taken"]
    assert one.hall.is_free("a")
    assert together(one.buy("ann", "a")) == ["Ticket"]


def test_seat_is_free_again_after_cancelling():
    one = office()

    async def main():
        task = asyncio.ensure_future(one.buy("ann", "a"))
        await asyncio.sleep(0)
        assert not one.hall.is_free("a")
        with pytest.raises(Taken):
            await one.buy("bob", "a")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert one.hall.is_free("a")


def test_different_seats_do_not_wait_for_each_other():
    log = []

    class Slow(Bank):
        async def charge(self, customer, amount):
            log.append("begin " + customer)
            await asyncio.sleep(0)
            log.append("end " + customer)

    one = Office(Hall({"a": 1, "b": 2}), Slow())
    assert together(one.buy("x", "a"), one.buy("y", "b")) == ["Ticket", "Ticket"]
    assert log == ["begin x", "begin y", "end x", "end y"]


def test_unknown_seat():
    one = office()
    with pytest.raises(Taken):
        asyncio.run(one.buy("ann", "z"))
    assert one.bank.paid == {}
    with pytest.raises(Declined):
        asyncio.run(office(poor=["p"]).buy("p", "a"))
