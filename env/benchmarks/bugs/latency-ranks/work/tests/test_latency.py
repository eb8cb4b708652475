# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from latency import Report, quantile


def report(percents, **routes):
    result = Report(percents)
    for route, numbers in routes.items():
        for number in numbers:
            result.record(route, number)
    return result


def test_first():
    assert report([0], home=[30, 10, 20]).row("home") == "home n=3 p0=10.0"


def test_highest():
    assert report([50, 100], home=[30, 10, 20]).row("home") == "home n=3 p50=20.0 p100=30.0"


def test_order_of_routes():
    assert report([0], a=[1, 9], b=[2], c=[1]).rows() == ["b n=1 p0=2.0", "a n=2 p0=1.0", "c n=1 p0=1.0"]


def test_impossible():
    with pytest.raises(ValueError):
        quantile([], 50)
    with pytest.raises(ValueError):
        quantile([1], 101)
