# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

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
