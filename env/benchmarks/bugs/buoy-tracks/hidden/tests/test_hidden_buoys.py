# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from buoys import Area, Track
from buoys.unroll import unrolled


@pytest.mark.parametrize("longitudes, expected", [
    ([170, -170, -150], [170, 190, 210]),
    ([-170, 170, 150], [-170, -190, -210]),
    ([170, -170, 170, -170], [170, 190, 170, 190]),
    ([0, 120, -120, 0, 120], [0, 120, 240, 360, 480]),
    ([0, -120, 120, 0], [0, -120, -240, -360]),
    ([10], [10]),
    ([], []),
])
def test_unrolled(longitudes, expected):
    assert unrolled(longitudes) == expected


@pytest.mark.parametrize("step", [7.0, -7.0, 50.0, -50.0])
def test_round_the_world(step):
    track = Track([(100.0 + step * i, 50.0) for i in range(60)])
    assert track.drift() == 59 * step
    assert track.area().width == 360.0
    assert track.legs() == [step] * 59


def test_to_and_fro_over_the_date_line():
    track = Track([(179.0, 0.0), (-178.0, 0.0), (-177.0, 0.0), (178.0, 0.0), (177.0, 0.0)])
    assert track.drift() == -2.0
    assert track.area() == Area(177.0, 6.0, 0.0, 0.0)
    assert track.middle() == (179.8, 0.0)


def test_westwards():
    track = Track([(-179.0, 5.0), (179.0, 5.0), (178.0, 5.0), (176.0, 5.0)])
    assert track.area() == Area(176.0, 5.0, 5.0, 5.0)
    assert track.middle() == (178.5, 5.0)


def test_other_seas():
    track = Track([(-1.0, 0.0), (1.0, 0.0), (359.0, 1.0), (361.0, 0.0)])
    assert track.drift() == 2.0
    assert track.area() == Area(-1.0, 2.0, 0.0, 1.0)
    assert (0.0, 0.5) in track.area() and (2.0, 0.5) not in track.area()
