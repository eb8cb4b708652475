# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import itertools
import random

import pytest

from toll.booth import Booth, Refused
from toll.box import CoinBox
from toll.change import fewest_coins


def by_trying(amount, coins):
    values = sorted(coins)
    sums = (
        (sum(numbers), dict(zip(values, numbers)))
        for numbers in itertools.product(*(range(coins[v] + 1) for v in values))
        if sum(v * n for v, n in zip(values, numbers)) == amount
    )
    return min((count for count, _ in sums), default=None)


@pytest.mark.parametrize("seed", range(6))
def test_fewest(seed):
    rng = random.Random(seed)
    coins = {value: rng.randrange(4) for value in (1, 3, 4, 9, 10)}
    for amount in range(0, 45):
        expected, found = by_trying(amount, coins), fewest_coins(amount, coins)
        if expected is None:
            assert found is None
        else:
            assert sum(found.values()) == expected
            assert sum(v * n for v, n in found.items()) == amount
            assert all(n <= coins[v] for v, n in found.items())


def test_no_coin_twice():
    assert fewest_coins(100, {50: 1}) is None
    assert fewest_coins(100, {50: 1, 20: 3}) is None
    assert fewest_coins(60, {50: 1, 20: 3}) == {20: 3}
    assert fewest_coins(0, {}) == {}


def test_box_never_goes_below_zero():
    booth = Booth(CoinBox({50: 2, 10: 3}), {"x": 10})
    for _ in range(5):
        try:
            booth.pay("x", {100: 1})
        except Refused as error:
            assert str(error) == "no change"
    assert all(number >= 0 for number in booth._box.coins.values())
    assert booth.log == []


def test_warnings():
    booth = Booth(CoinBox({50: 3, 20: 2}))
    assert booth.warnings([10, 20, 40, 60, 70, 90, 100, 150, 190, 200]) == [10, 60, 200]


def test_paid_coins_are_used():
    assert Booth(CoinBox({}), {"x": 50}).pay("x", {50: 2}) == {50: 1}
