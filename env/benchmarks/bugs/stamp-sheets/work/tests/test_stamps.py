# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from stamps import Desk, Stamp


def desk(*stamps):
    return Desk([Stamp(cents, stock) for cents, stock in stamps])


def test_small_letters():
    d = desk((50, 2), (10, 5))
    assert [d.ways(cents) for cents in (0, 10, 50, 60, 55)] == [1, 1, 2, 1, 0]


def test_large_letter():
    assert desk((5, 4), (10, 3), (20, 2)).ways(50) == 6
    assert desk((20, 2), (10, 3), (5, 4)).ways(50) == 6


def test_fewest():
    assert desk((5, 4), (20, 2), (25, 1)).fewest(40) == 2
    assert desk((5, 4)).fewest(25) is None


def test_listed_twice():
    with pytest.raises(ValueError):
        desk((5, 1), (5, 2))
