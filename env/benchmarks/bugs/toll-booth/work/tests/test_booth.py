# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from toll.booth import Booth, Refused
from toll.box import CoinBox


def test_change():
    box = CoinBox({200: 10, 100: 10, 50: 10, 20: 10, 10: 10})
    assert Booth(box).pay("car", {200: 2}) == {100: 1, 20: 1}
    assert box.total() == 3800 + 280


def test_few_coins():
    booth = Booth(CoinBox({50: 2, 20: 6}), {"tractor": 300})
    assert booth.pay("tractor", {500: 1}) == {50: 2, 20: 5}


def test_too_little():
    with pytest.raises(Refused):
        Booth(CoinBox({})).pay("van", {200: 2})


def test_no_change_leaves_the_box_alone():
    box = CoinBox({20: 1})
    with pytest.raises(Refused):
        Booth(box).pay("car", {200: 2})
    assert box.coins == {20: 1, 200: 0}
