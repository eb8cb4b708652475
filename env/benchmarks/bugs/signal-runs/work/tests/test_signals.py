# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from signals import dump, load, longest


def test_dump():
    assert dump([0, 0, 0, 17, 5, 5]) == "0*3 17 5*2"


def test_tolerance():
    assert dump([10, 11, 9, 12, 12], tolerance=1) == "10*3 12*2"


def test_round_trip_with_a_dropout():
    signal = [4, 4, None, None, None, 4, 0]
    assert load(dump(signal)) == signal


def test_longest():
    assert longest([1, 2, 2, 3, 3]) == (2, 2)
