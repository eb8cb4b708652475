# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date

from rain import Series, compare
from rain.series import aligned


def days(first, second):
    return [(day.isoformat()[5:], a, b) for day, a, b in aligned(Series.parse(first), Series.parse(second))]


def test_we_end_early():
    result = compare(Series.parse("2024-12-30: 0"), Series.parse("2024-12-30: 0 7 0.5 2"))
    assert result.extra == [date(2024, 12, 31), date(2025, 1, 2)]
    assert result.missed == []


def test_both_ends_open():
    assert days("2024-02-28: 1 2", "2024-02-29: 3 4 -") == [
        ("02-28", 1, None), ("02-29", 2, 3), ("03-01", None, 4), ("03-02", None, None)]


def test_one_inside_the_other():
    assert days("2024-01-01: 1 2 3 4", "2024-01-02: 9") == [
        ("01-01", 1, None), ("01-02", 2, 9), ("01-03", 3, None), ("01-04", 4, None)]
    assert days("2024-01-02: 9", "2024-01-01: 1 2 3") == [
        ("01-01", None, 1), ("01-02", 9, 2), ("01-03", None, 3)]


def test_spans_that_do_not_touch():
    assert days("2024-01-01: 5", "2024-01-03: 6") == [
        ("01-01", 5, None), ("01-02", None, None), ("01-03", None, 6)]
    assert days("2024-01-03: 6", "2024-01-01: 5") == [
        ("01-01", None, 5), ("01-02", None, None), ("01-03", 6, None)]


def test_empty_series():
    assert days("2024-01-01:", "2024-01-01: 2") == [("01-01", None, 2)]
    assert days("2024-01-01:", "2024-01-01:") == []


def test_no_rain_missed():
    assert compare(Series.parse("2024-01-01: 5 0.2"), Series.parse("2024-01-01: 5")).summary() == (
        "1 days compared, no rain missed")
