# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction

import pytest

from sensors import Rollup, Summary


def close(summary, numbers):
    assert summary.moments.count == len(numbers)
    assert summary.moments.mean == pytest.approx(statistics.mean(numbers))
    assert summary.spread == pytest.approx(statistics.stdev(numbers), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("left, right", [
    ([1.0], [2.0]), ([1.0], [5.0, 6.0, 7.0]), ([5.0, 6.0, 7.0], [1.0]), ([1, 2], [3, 4]), ([0.0] * 9, [10.0]), ([], [1.0, 2.0]), ([1.0, 2.0], []),
])
def test_two_parts_in_either_order(left, right):
    close(Summary.of(left) + Summary.of(right), left + right)
    close(Summary.of(right) + Summary.of(left), left + right)


def test_many_parts():
    chance = random.Random(3)
    for _ in range(30):
        rollup, numbers = Rollup(), []
        for hour in range(24):
            part = [chance.gauss(hour, 2) for _ in range(chance.randint(0, 6))]
            rollup.record("d", hour, part)
            numbers += part
        close(rollup.day("d"), numbers)


def test_large_numbers_with_a_small_spread():
    numbers = [1e9 + x for x in (4, 7, 13, 16)]
    summary = Summary.of(numbers[:1]) + Summary.of(numbers[1:])
    assert summary.moments.variance == pytest.approx(30.0)


def test_recording_one_by_one():
    rollup = Rollup()
    for number in (1.0, 2.0, 4.0):
        rollup.record("d", 0, [number])
    close(rollup.hour("d", 0), [1.0, 2.0, 4.0])
    assert (rollup.hour("d", 0).low, rollup.hour("d", 0).high) == (1.0, 4.0)


def test_parts_put_together_in_any_way():
    chance = random.Random(7)
    for _ in range(60):
        numbers = [chance.choice([0.0, -5.5, 3.25, chance.gauss(40, 9)]) for _ in range(chance.randint(2, 15))]
        parts = []
        at = 0
        while at < len(numbers):
            size = chance.randint(0, 4)
            parts.append(Summary.of(numbers[at : at + size]))
            at += size
        while len(parts) > 1:
            place = chance.randrange(len(parts) - 1)
            parts[place : place + 2] = [parts[place] + parts[place + 1]]
        close(parts[0], numbers)
        assert (parts[0].low, parts[0].high) == (min(numbers), max(numbers))


def test_equal_numbers_have_no_spread():
    for count in range(1, 6):
        summary = Summary.of([7.5] * count) + Summary.of([7.5] * 3) + Summary()
        assert (summary.spread, summary.moments.mean, summary.moments.count) == (0.0, 7.5, count + 3)
    assert Summary.of([4.0]).spread == 0.0 and (Summary() + Summary()).moments.count == 0


def test_hours_of_a_day():
    rollup = Rollup()
    rollup.record("a", 23, [1.0, 3.0])
    rollup.record("b", 23, [100.0])
    rollup.record("a", 0, [8.0])
    assert rollup.day("a").line() == "n=3 mean=4.000 spread=3.606 range=1..8"
    assert rollup.day("c").moments.count == 0


@pytest.mark.parametrize("size", [1e-150, 1e-9, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("ratio", [0, 1, -1e4, 1e7, -1e9])
def test_numbers_of_any_size(size, ratio):
    chance = random.Random(5)
    for _ in range(6):
        parts = [[size * (ratio + chance.uniform(-3, 3)) for _ in range(chance.randint(1, 4))] for _ in range(4)]
        numbers = [Fraction(number) for part in parts for number in part]
        mean = sum(numbers) / len(numbers)
        variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
        summary = sum((Summary.of(part) for part in parts), Summary())
        assert summary.moments.mean == pytest.approx(float(mean), rel=1e-9, abs=1e-9 * size)
        assert summary.spread / size == pytest.approx(math.sqrt(variance / Fraction(size) ** 2), rel=1e-4)


def test_parts_stay_as_they_are():
    parts = [Summary.of([1e9 + k, 1e9 + 3 * k]) for k in range(1, 6)]
    before = [(part.moments.count, part.moments.mean, part.moments.squares, part.low, part.high) for part in parts]
    total = sum(parts, Summary())
    assert [(p.moments.count, p.moments.mean, p.moments.squares, p.low, p.high) for p in parts] == before
    assert total.moments.count == 10 and (total.low, total.high) == (1e9 + 1, 1e9 + 15)


def test_squares_of_any_parts():
    chance = random.Random(21)
    for _ in range(100):
        left, right = ([chance.randint(-50, 50) for _ in range(chance.randint(0, 5))] for _ in range(2))
        merged = Summary.of(left).moments.merge(Summary.of(right).moments)
        mean = statistics.mean(left + right) if left + right else 0
        assert merged.squares == pytest.approx(sum((number - mean) ** 2 for number in left + right))
        assert merged.variance == pytest.approx(statistics.variance(left + right) if len(left + right) > 1 else 0)
