# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import itertools
import random

import pytest

from toll.booth import Booth, Refused
from toll.box import CoinBox
from toll.change import fewest_coins


def by_trying(coins):
    """Amount -> the choice: the fewest coins, and of equally few more of the largest one, then of the next."""
    values = sorted(coins, reverse=True)
    best = {}
    for numbers in itertools.product(*(range(coins[v] + 1) for v in values)):
        amount = sum(v * n for v, n in zip(values, numbers))
        best[amount] = max(best.get(amount, (-99,)), (-sum(numbers), *numbers))
    return {amount: {v: n for v, n in zip(values, found[1:]) if n} for amount, found in best.items()}


@pytest.mark.parametrize("seed", range(6))
def test_fewest(seed):
    rng = random.Random(seed)
    coins = {value: rng.randrange(4) for value in (1, 3, 4, 9, 10)}
    expected = by_trying(coins)
    for amount in range(0, 45):
        assert fewest_coins(amount, coins) == expected.get(amount)
    assert fewest_coins(2, {**coins, 1: 1}) is None


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


def test_fewer_coins_found_later():
    assert fewest_coins(12, {9: 1, 4: 3, 3: 1}) == {9: 1, 3: 1}
    assert fewest_coins(60, {30: 1, 20: 3, 10: 1, 50: 1}) == {50: 1, 10: 1}
    assert fewest_coins(30, {20: 1, 6: 5, 5: 2}) == {20: 1, 5: 2}
    assert fewest_coins(18, {12: 1, 6: 3, 3: 2}) == {12: 1, 6: 1}


def test_larger_coins_of_equally_few():
    assert fewest_coins(12, {6: 1, 3: 2, 5: 2, 2: 1}) == {6: 1, 3: 2}
    assert fewest_coins(15, {7: 2, 5: 3, 1: 1}) == {7: 2, 1: 1}
    assert fewest_coins(27, {12: 1, 7: 2, 5: 3, 1: 1}) == {12: 1, 7: 2, 1: 1}
    assert fewest_coins(16, {8: 2, 5: 2, 6: 1}) == {8: 2}


def test_like_trying_with_many_boxes():
    chance = random.Random(20)
    for _ in range(150):
        coins = {value: chance.randrange(4) for value in chance.sample(range(1, 14), chance.randint(1, 5))}
        kept, expected = dict(coins), by_trying(coins)
        for amount in range(sum(value * number for value, number in coins.items()) + 2):
            assert fewest_coins(amount, coins) == expected.get(amount), (amount, coins)
        assert coins == kept


def test_choices_that_are_replaced_are_missed_later():
    assert fewest_coins(200, {100: 1, 80: 3, 30: 3, 10: 1}) == {80: 2, 30: 1, 10: 1}
    assert fewest_coins(23, {3: 2, 5: 2, 4: 3}) == {5: 1, 4: 3, 3: 2}
