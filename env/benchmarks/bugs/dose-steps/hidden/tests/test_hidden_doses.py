# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from datetime import date
from fractions import Fraction

import pytest

from doses import make_plan, steps


@pytest.mark.parametrize("start, stop, step, expected", [
    (0.1, 0.8, 0.1, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
    (0, 0.3, 0.1, [0.0, 0.1, 0.2]),
    (1.1, 1.4, 0.1, [1.1, 1.2, 1.3]),
    (0.8, 0.1, -0.1, [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2]),
    (0.001, 0.0045, 0.0007, [0.001, 0.0017, 0.0024, 0.0031, 0.0038]),
    (1, 2, 0.35, [1.0, 1.35, 1.7]),
    (1e-7, 4e-7, 1e-7, [1e-7, 2e-7, 3e-7]),
    (1, 1, 0.1, []),
    (2, 1, 0.1, []),
])
def test_steps(start, stop, step, expected):
    assert steps(start, stop, step) == expected


@pytest.mark.parametrize("n", range(1, 60))
def test_tenths_and_hundredths(n):
    assert steps(0, n / 10, 0.1) == [i / 10 for i in range(n)]
    assert steps(0, n / 100, 0.01) == [i / 100 for i in range(n)]


def test_ends_inside_a_step():
    assert steps(0.1, 0.35, 0.1) == [0.1, 0.2, 0.3]
    assert steps(0.1, 0.30000001, 0.1) == [0.1, 0.2, 0.3]


def test_long_plan():
    plan = make_plan(date(2024, 1, 1), 0.1, 3.0, 0.1, days=1)
    assert len(plan.rising) == 29
    assert all(len(line) <= len("from 2024-01-01: 0.1 ml") for line in plan.lines()[:-1])
    assert plan.total(date(2024, 2, 1)) == 49.5


def test_falling_plan_and_days_before():
    plan = make_plan(date(2024, 1, 10), 2.0, 1.7, -0.1)
    assert plan.rising == (2.0, 1.9, 1.8)
    assert plan.dose(date(2024, 1, 9)) == 0


@pytest.mark.parametrize("exponent", [-300, -15, -10, -9, -3, 0, 2, 12, 20])
def test_steps_of_any_size(exponent):
    chance = random.Random(exponent)
    for _ in range(60):
        start, by, count = (chance.choice([0, 1, 7, 10, 35, 123]) for _ in range(3))
        rest = chance.choice([0, 0, 1])
        by = by + 1 if chance.random() < 0.7 else -by - 1
        count %= 40
        stop = start + by * count + (rest if by > 0 else -rest)
        numbers = [Fraction(start + by * n) for n in range(999) if (start + by * n < stop if by > 0 else start + by * n > stop)]
        written = [f"{number}e{exponent}" for number in (start, stop, by)]
        expected = [float(f"{number.numerator}e{exponent}") for number in numbers]
        assert steps(*map(float, written)) == expected
        if exponent == 0:
            assert steps(start, stop, by) == expected
            assert make_plan(date(2024, 1, 1), start, stop, by).rising == tuple(expected)


def test_start_and_stop_with_more_places_than_the_step():
    assert steps(0.125, 0.4, 0.1) == [0.125, 0.225, 0.325]
    assert steps(1, 1.3000000001, 0.1) == [1.0, 1.1, 1.2, 1.3]
    assert steps(1, 1.29999999999, 0.1) == [1.0, 1.1, 1.2]
    assert steps(0.3, 0.1999999999, -0.1) == [0.3, 0.2]
    assert steps(10, 10.000000000003, 1e-12) == [10.0, 10.000000000001, 10.000000000002]
    assert steps(-0.3, 0.3, 0.1) == [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2]
    with pytest.raises(ValueError):
        steps(1, 0, 0.0)
