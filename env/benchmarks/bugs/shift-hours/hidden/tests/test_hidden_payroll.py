# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from payroll import CENTRAL, BadCard, Shift, Tariff, pay, read_cards


def minutes(line):
    (shift,) = read_cards(line)
    return shift.minutes


@pytest.mark.parametrize(
    "line, worked",
    [
        ("a 2024-03-30T22:00 2024-03-31T06:00", 420),
        ("a 2024-03-31T01:30 2024-03-31T03:30 15", 45),
        ("a 2024-10-26T22:00 2024-10-27T06:00 30", 510),
        ("a 2023-10-28T23:00 2023-10-29T03:00", 300),
        ("a 2024-10-27T02:10 2024-10-27T02:40b", 90),
        ("a 2024-10-27T02:40 2024-10-27T02:10b", 30),
        ("a 2024-10-27T02:10b 2024-10-27T02:40b", 30),
        ("a 2024-10-27T02:10 2024-10-27T02:40", 30),
        ("a 2024-10-25T22:00 2024-10-26T06:00", 480),
        ("a 2024-10-27T03:00 2024-10-27T11:00", 480),
        ("a 2024-12-31T22:00 2025-01-01T06:00", 480),
    ],
)
def test_minutes(line, worked):
    assert minutes(line) == worked


def test_end_before_start_in_the_hour_that_comes_twice():
    with pytest.raises(BadCard):
        read_cards("a 2024-10-27T02:10b 2024-10-27T02:40")


def test_shift_within_the_lost_hour_of_march():
    with pytest.raises(BadCard):
        read_cards("a 2024-03-31T01:30 2024-03-31T03:00 30")


def test_overtime_of_the_long_night():
    shifts = read_cards("a 2024-10-26T22:00 2024-10-27T06:00\nb 2024-03-30T22:00 2024-03-31T06:00")
    assert pay(shifts, Tariff(1200)) == {"a": 9 * 1200 + 300, "b": 7 * 1200}


def test_other_zones():
    start = datetime(2024, 10, 26, 20, 0, tzinfo=timezone.utc)
    assert Shift("a", start, datetime(2024, 10, 27, 5, 0, tzinfo=CENTRAL)).minutes == 480
    assert Shift("a", start, start + timedelta(hours=8), 20).minutes == 460
