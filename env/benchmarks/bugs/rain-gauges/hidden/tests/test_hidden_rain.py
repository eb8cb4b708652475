# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from datetime import date, timedelta
from itertools import islice

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


def test_any_two_gauges():
    chance = random.Random(7)
    for _ in range(300):
        both = []
        for _ in range(2):
            start = date(2024, 2, 26) + timedelta(chance.randint(0, 6))
            both.append(Series(start, [chance.choice([None, 0.0, 0.4, 1.0, 2.5, 9.0]) for _ in range(chance.randint(1, 6))]))
        before = [(series.start, list(series.values), series.end, series.total()) for series in both]
        known = [{series.start + timedelta(n): value for n, value in enumerate(series.values)} for series in both]
        first, last = min(series.start for series in both), max(series.end for series in both)
        span = [first + timedelta(n) for n in range((last - first).days)]
        assert list(aligned(*both)) == [(day, known[0].get(day), known[1].get(day)) for day in span]
        for rainy in (1.0, 0.4):
            result = compare(*both, rainy)
            values = [(day, known[0].get(day), known[1].get(day)) for day in span]
            assert result.missed == [day for day, a, b in values if b is None and a is not None and a >= rainy]
            assert result.extra == [day for day, a, b in values if a is None and b is not None and b >= rainy]
            off = [(abs(a - b), day) for day, a, b in values if a is not None and b is not None]
            assert (result.days, result.difference) == (len(off), max((size for size, _ in off), default=0))
            assert result.worst == next((day for size, day in off if size == result.difference), None)
        assert [(series.start, series.values, series.end, series.total()) for series in both] == before
        for series, days in zip(both, known):
            for day in span:
                assert list(islice(series.from_day(day), 99)) == [days.get(one) for one in span if day <= one < series.end]
