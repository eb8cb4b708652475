# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from ledger import Machine, run


@pytest.mark.parametrize(
    "bookings, slip",
    [
        ([100, 200, -50], (83, 250, -50, 1, 16, 1)),
        ([1200, -600, 40], (220, 660, -580, 1, 30, 1)),
        ([1200, -700, 40], (187, 561, -679, 1, 28, 1)),
        ([5000, -3000], (1045, 2090, -2910, 1, 26, 2)),
        ([9500, 20000, -20000], (3000, 9000, -9000, 1, 36, 2)),
        ([-1, -2, -3, 9000, 4000], (2598, 12994, -3, 3, 62, 2)),
        ([-501], (-481, -481, -481, 1, 29, 0)),
        ([-667], (-647, -647, -647, 1, 33, 0)),
        ([-500], (-500, -500, -500, 1, 15, 0)),
        ([12, -640, -600, 3000], (453, 1812, -620, 2, 32, 2)),
        ([-700], (-679, -679, -679, 1, 41, 0)),
        ([-1000, 2000], (515, 1030, -970, 1, 10, 2)),
        ([800, -8999], (-3965, -7930, -8730, 1, 61, 0)),
        ([-12000], (-9000, -9000, -9000, 1, 36, 0)),
        ([10000, 3], (4501, 9003, 0, 0, 39, 2)),
        ([-5, -6, -7], (-6, -18, -7, 3, 10, 0)),
    ],
)
def test_slip(bookings: list, slip: tuple) -> None:
    assert run(bookings) == slip


def test_the_least_fee_is_taken_where_three_in_a_hundred_are_less() -> None:
    for refund in (501, 600, 666, 667, 700, 1000, 2000):
        slip = run([-refund])
        assert slip is not None and slip.total == -(refund - max(refund * 3 // 100, 20))


def test_the_fee_is_read_once() -> None:
    machine = Machine()
    run([-3000], machine)
    assert (machine.names["g"], machine.names["f"]) == (90, 2910)
    machine = Machine()
    run([-600], machine)
    assert (machine.names["g"], machine.names["f"]) == (20, 580)


def test_lines() -> None:
    slip = run([100])
    assert slip is not None and slip.lines()[1] == "total        100"


def by_hand(bookings: list) -> tuple:
    values = []
    for value in bookings:
        if value < -500:
            value += max(-value * 3 // 100, 20)
        values.append(max(-9000, min(9000, value)))
    total, refunds = sum(values), sum(1 for value in bookings if value < 0)
    average = abs(total) // len(values) * (1 if total >= 0 else -1)
    check = sum(int(digit) * place for place, digit in enumerate(reversed(str(abs(total))), 1)) % 97
    grade = 0 if total < 0 else sum(total >= each for each in (0, 1000, 10000)) - (refunds > 2)
    return average, total, min(0, *values), refunds, check, grade


def test_many_days() -> None:
    chance = random.Random(8)
    for _ in range(300):
        most = chance.choice([600, 1100, 12000])
        bookings = [chance.randint(-most, most) for _ in range(chance.randint(1, 7))]
        assert run(bookings) == by_hand(bookings), bookings


@pytest.mark.parametrize(
    "bookings, total",
    [([-3000, -100], -3010), ([9000, -3000, -100, -501], 5509), ([-600, -500, -500], -1580), ([-667, -1, 5], -643)],
)
def test_small_refunds_after_a_large_one_cost_nothing(bookings: list, total: int) -> None:
    slip = run(bookings)
    assert slip is not None and slip.total == total
