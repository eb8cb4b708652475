# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from mixer import Mixer, echo, fade_out, gain


def test_full_level():
    mixer = Mixer()
    mixer.add([100, -100, 32000])
    mixer.add([-50, 2000], start=1)
    assert mixer.mix() == [100, -150, 32767]


def test_soft_mix_of_a_sound_and_its_opposite():
    sound = [5, -3, 1, -1, 700, -701]
    mixer = Mixer(master=200)
    mixer.add(sound, level=100)
    mixer.add([-s for s in sound], level=100)
    assert mixer.mix() == [0] * 6


def test_fade_out():
    assert fade_out([8, 8, 8, 8, 8], 4) == [8, 6, 4, 2, 0]
    assert fade_out([1000, 1000], 10) == [500, 0]


def test_echo():
    assert echo([64, 0, 0, 0, 0, 0], 2) == [64, 0, 32, 0, 16, 0]


def test_gain_clips():
    assert gain([20000, 3], 512) == [32767, 6]
