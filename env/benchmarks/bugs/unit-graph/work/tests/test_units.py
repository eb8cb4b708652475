# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from units import NoWay, standard


def test_lengths():
    assert standard().convert(1, "mile", "km") == 1.609344
    assert standard().convert("2.54", "m", "inch") == 100


def test_celsius():
    assert standard().convert(100, "C", "F") == 212
    assert standard().convert(0, "K", "C") == -273.15


def test_fahrenheit():
    assert standard().convert(212, "F", "C") == 100
    assert standard().convert(-40, "F", "C") == -40


def test_no_way():
    with pytest.raises(NoWay):
        standard().convert(1, "kg", "m")
