# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

from cycles import Planner


def planner():
    result = Planner()
    result.add("oil", date(2024, 1, 1), 10)
    result.add("belt", date(2024, 1, 3), 7)
    result.add("filter", date(2024, 1, 5), 14)
    result.add("lamp", date(2024, 1, 2), 10)
    return result


def test_due():
    assert planner().due(date(2024, 1, 31)) == ["belt", "oil"]


def test_lengths_without_common_divisor():
    assert planner().together(["oil", "belt"], date(2024, 1, 1)) == date(2024, 1, 31)


def test_lengths_with_common_divisor():
    days = planner().days_together(["oil", "filter"], date(2024, 1, 1), 2)
    assert [planner().due(day) for day in days] == [["filter", "oil"], ["filter", "oil"]]
    assert (days[1] - days[0]).days == 70


def test_never():
    assert planner().together(["oil", "lamp"], date(2024, 1, 1)) is None
