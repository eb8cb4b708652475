# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from buoys import Area, Track


def test_atlantic():
    track = Track([(-30.0, 10.0), (-29.0, 11.0), (-31.0, 12.0)])
    assert track.area() == Area(-31.0, 2.0, 10.0, 12.0)
    assert track.middle() == (-30.0, 11.0)


def test_date_line():
    track = Track([(178.0, 0.0), (179.0, 1.0), (-179.0, 2.0), (-178.0, 3.0)])
    assert track.legs() == [1.0, 2.0, 1.0]
    assert track.area() == Area(178.0, 4.0, 0.0, 3.0)
    assert track.middle() == (-180.0, 1.5)


def test_one_leg_over_the_date_line():
    track = Track([(179.0, 0.0), (-179.0, 2.0)])
    assert track.area().width == 2.0
    assert (180.0, 1.0) in track.area() and (0.0, 1.0) not in track.area()


def test_nothing():
    with pytest.raises(ValueError):
        Track([])
