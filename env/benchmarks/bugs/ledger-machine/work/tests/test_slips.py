# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from ledger import Fault, Machine, run
from ledger.books import BOOKS


def test_a_large_refund() -> None:
    assert run([5000, -3000]) == (1045, 2090, -2910, 1, 26, 2)


def test_small_refunds() -> None:
    assert run([100, 200, -50]) == (83, 250, -50, 1, 16, 1)
    assert run([1200, -600, 40]) == (220, 660, -580, 1, 30, 1)


def test_a_year_without_large_refunds() -> None:
    slips = [run(bookings) for _, bookings in BOOKS]
    assert sum(slip.total for slip in slips if slip) == sum(sum(bookings) for _, bookings in BOOKS)


def test_a_day_without_bookings() -> None:
    assert run([]) is None


def test_what_the_machine_refuses() -> None:
    with pytest.raises(Fault):
        Machine([("JUMP", 3)])
    with pytest.raises(Fault):
        Machine([("ADD", None)]).run([])
    with pytest.raises(Fault):
        Machine([("JMP", 0)], most=50).run([])
