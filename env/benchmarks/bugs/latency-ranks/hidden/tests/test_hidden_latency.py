# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import statistics

import pytest

from latency import Report, quantile


@pytest.mark.parametrize("numbers, percent, expected", [
    ([1, 2], 50, 1.5), ([1, 2, 3, 4], 50, 2.5), ([10, 20, 30], 25, 15), ([10, 20, 30], 90, 28), ([5], 0, 5), ([5], 99, 5),
    ([0, 100], 37, 37), ([1, 1, 9, 9], 100, 9), (list(range(101)), 99, 99), ([3, 7], 100, 7),
])
def test_quantiles(numbers, percent, expected):
    assert quantile(numbers, percent) == pytest.approx(expected)


@pytest.mark.parametrize("size", range(2, 30))
def test_like_the_library(size):
    numbers = [n * n for n in range(size)]
    expected = statistics.quantiles(numbers, n=10, method="inclusive")
    assert [quantile(numbers, p) for p in range(10, 100, 10)] == pytest.approx(expected)


def test_single_measurement():
    report = Report()
    report.record("x", 7)
    assert report.row("x") == "x n=1 p50=7.0 p90=7.0 p99=7.0"


def test_ranking_by_median():
    report = Report([50])
    for route, numbers in {"a": [1, 10], "b": [6, 6], "c": [2, 3, 50]}.items():
        for number in numbers:
            report.record(route, number)
    assert report.rows() == ["b n=2 p50=6.0", "a n=2 p50=5.5", "c n=3 p50=3.0"]
