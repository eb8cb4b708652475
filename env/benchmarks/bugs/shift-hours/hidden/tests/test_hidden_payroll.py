# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import datetime, timedelta, timezone
import random

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


def wall(moment):
    """The time on the clocks of the company at a moment in UTC, as it is written on a card."""
    for year in (moment.year,):
        changes = []
        for month in (3, 10):
            day = datetime(year, month, 31, 1)
            changes.append(day - timedelta(days=(day.weekday() + 1) % 7))
    summer = changes[0] <= moment < changes[1]
    again = changes[1] <= moment < changes[1] + timedelta(hours=1)
    return (moment + timedelta(hours=2 if summer else 1)).strftime("%Y-%m-%dT%H:%M") + ("b" if again else "")


@pytest.mark.parametrize("year", [2023, 2024, 2025, 2026])
def test_many_shifts_around_the_changes(year):
    chance = random.Random(year)
    for month, day in ((3, 31), (10, 31), (3, 28), (10, 27), (6, 15)):
        for _ in range(80):
            start = datetime(year, month, day) + timedelta(minutes=chance.randint(-10 * 1440, 600))
            worked = chance.randint(1, 900)
            line = f"a {wall(start)} {wall(start + timedelta(minutes=worked))}"
            assert minutes(line) == worked, line


def test_pay_of_several_shifts():
    cards = "a 2024-10-26T22:00 2024-10-27T06:00 60\n\nb 2024-10-28T08:00 2024-10-28T16:20\na 2024-03-30T22:00 2024-03-31T06:00"
    assert pay(read_cards(cards), Tariff(1200)) == {"a": 8 * 1200 + 7 * 1200, "b": 10100}
    with pytest.raises(BadCard):
        read_cards("a 2024-10-27T02:10")
