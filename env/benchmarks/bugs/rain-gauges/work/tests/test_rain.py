# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

from rain import Series, compare


def test_same_span():
    result = compare(Series.parse("2024-05-01: 0 3 1"), Series.parse("2024-05-01: 0 - 4.5"))
    assert result.missed == [date(2024, 5, 2)]
    assert (result.days, result.worst, result.difference) == (2, date(2024, 5, 3), 3.5)


def test_late_start():
    result = compare(Series.parse("2024-05-01: 5 0 3"), Series.parse("2024-05-03: 3"))
    assert result.missed == [date(2024, 5, 1)]


def test_neighbour_ends_early():
    result = compare(Series.parse("2024-05-01: 0 3 1 12 30"), Series.parse("2024-05-01: 0 3 1"))
    assert result.summary() == "3 days compared, 2 rainy days missed from 2024-05-04"
