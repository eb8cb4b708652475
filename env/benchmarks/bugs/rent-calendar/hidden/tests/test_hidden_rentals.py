# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

import pytest

from rentals import Tenancy, add_months


def test_every_last_of_month_of_two_years():
    days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    tenancy = Tenancy("x", date(2024, 1, 31), 1)
    assert [d.day for d in tenancy.due_dates(date(2024, 12, 31))] == days
    days[1] = 28
    assert [d.day for d in tenancy.due_dates(date(2025, 12, 31))][12:] == days


@pytest.mark.parametrize("day", [28, 29, 30, 31])
def test_short_month_does_not_move_later_dates(day):
    tenancy = Tenancy("x", date(2023, 1, day), 1)
    assert [d.day for d in tenancy.due_dates(date(2023, 5, 31))] == [day, 28, day, min(day, 30), day]


@pytest.mark.parametrize(
    "day, months, result",
    [
        (date(2024, 2, 29), 12, date(2025, 2, 28)),
        (date(2024, 2, 29), 48, date(2028, 2, 29)),
        (date(2023, 3, 31), -1, date(2023, 2, 28)),
        (date(2024, 3, 31), -1, date(2024, 2, 29)),
        (date(2023, 10, 31), 1, date(2023, 11, 30)),
        (date(2023, 12, 31), 2, date(2024, 2, 29)),
        (date(2023, 12, 31), -13, date(2022, 11, 30)),
        (date(2100, 1, 30), 1, date(2100, 2, 28)),
        (date(2023, 5, 5), 0, date(2023, 5, 5)),
    ],
)
def test_adding_months(day, months, result):
    assert add_months(day, months) == result


def test_quarters_and_next_due():
    tenancy = Tenancy("x", date(2023, 8, 31), 300, every_months=3)
    assert list(tenancy.due_dates(date(2024, 8, 31))) == [
        date(2023, 8, 31), date(2023, 11, 30), date(2024, 2, 29), date(2024, 5, 31), date(2024, 8, 31),
    ]
    assert tenancy.next_due(date(2023, 12, 1)) == date(2024, 2, 29)
    assert tenancy.next_due(date(2023, 11, 30)) == date(2023, 11, 30)


def test_leap_day_every_year():
    tenancy = Tenancy("x", date(2020, 2, 29), 1, every_months=12)
    assert [d.day for d in tenancy.due_dates(date(2024, 12, 31))] == [29, 28, 28, 28, 29]
