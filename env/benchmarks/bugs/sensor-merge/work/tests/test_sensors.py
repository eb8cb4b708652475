# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import statistics

import pytest

from sensors import Rollup, Summary


def test_one_summary():
    assert Summary.of([2, 4, 4, 4, 5, 5, 7, 9]).line() == "n=8 mean=5.000 spread=2.138 range=2..9"


def test_same_number_over_and_over():
    rollup = Rollup()
    for hour in range(3):
        rollup.record("mon", hour, [20.5] * 4)
    assert rollup.day("mon").line() == "n=12 mean=20.500 spread=0.000 range=20.5..20.5"


def test_day_of_hours():
    hours = [[20.0, 20.5, 21.0], [18.0, 17.5, 19.0, 17.0, 18.5, 18.0], [25.0]]
    rollup = Rollup()
    for number, hour in enumerate(hours):
        rollup.record("mon", number, hour)
    day = rollup.day("mon")
    numbers = sum(hours, [])
    assert day.moments.mean == pytest.approx(statistics.mean(numbers))
    assert day.spread == pytest.approx(statistics.stdev(numbers))


def test_nothing():
    assert Rollup().day("mon").moments.count == 0
    assert Summary.of([3]).spread == 0
