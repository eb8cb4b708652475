# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

import math
import random
from fractions import Fraction

from mixer import Mixer, echo, fade_out, gain
from mixer.samples import scaled


@pytest.mark.parametrize("level", [0, 1, 3, 85, 128, 255, 256, 257, 400])
def test_gain_is_even_handed(level):
    sound = list(range(-300, 301, 7))
    assert gain([-s for s in sound], level) == [-s for s in gain(sound, level)]


@pytest.mark.parametrize("number, level, unit, result", [
    (-1, 128, 256, 0), (1, 128, 256, 0), (-3, 128, 256, -1), (3, 128, 256, 1), (-256, 1, 256, -1), (-255, 1, 256, 0),
    (-4, 128, 256, -2), (-7, 2, 3, -4), (7, 2, 3, 4), (-9, 1, 3, -3), (0, 9, 2, 0), (-5, 255, 256, -4), (5, 255, 256, 4),
    (-(10**18) - 1, 1, 2, -(5 * 10**17)),
])
def test_scaled(number, level, unit, result):
    assert scaled(number, level, unit) == result


def test_fade_of_noise():
    assert fade_out([-1, 1, -1, 1], 4) == [0, 0, 0, 0]
    assert fade_out([-8, -8, -8, -8], 4) == [-6, -4, -2, 0]
    assert fade_out([-9, 9, -9], 3) == [-6, 3, 0]


def test_echo_dies_away():
    assert echo([-5] + [0] * 8, 1) == [-5, -2, -1, 0, 0, 0, 0, 0, 0]
    assert echo([-5, 0, 0, 0], 1, 256) == [-5] * 4


def test_mix_at_a_low_level():
    mixer = Mixer(master=128)
    mixer.add([-3, -32768], level=255)
    assert mixer.mix() == [-1, -16320]
    assert Mixer().mix() == []


def test_scaled_like_exact_fractions():
    chance = random.Random(3)
    for most in (300, 40000, 10**9, 10**25):
        for _ in range(200):
            number, level, unit = chance.randint(-most, most), chance.randint(0, most), chance.choice([1, 3, 7, 256, 1000])
            assert scaled(number, level, unit) == math.trunc(Fraction(number * level, unit))


def test_sounds_stay_as_they_are():
    sound = [-5, 5, -32768, 32767, -1, 0]
    mixer = Mixer(master=77)
    mixer.add(sound, level=99)
    for result in (gain(sound, 100), fade_out(sound, 4), echo(sound, 2), echo(sound, 9), mixer.mix(), mixer.mix()):
        assert result is not sound and sound == [-5, 5, -32768, 32767, -1, 0]
    assert fade_out(sound, 0) == echo(sound, 9) == sound
    assert fade_out([], 3) == gain([], 3) == echo([], 1) == []
    assert fade_out(sound, 99) == [math.trunc(Fraction(s * (5 - i), 6)) for i, s in enumerate(sound)]
