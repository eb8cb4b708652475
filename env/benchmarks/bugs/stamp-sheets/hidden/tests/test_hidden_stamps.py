# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from itertools import permutations, product

import pytest

from stamps import Desk, Stamp


def by_hand(stamps, amount):
    sets = product(*[range(stock + 1) for _, stock in stamps])
    return sum(1 for counts in sets if sum(n * c for n, (c, _) in zip(counts, stamps)) == amount)


def desk(stamps):
    return Desk([Stamp(*stamp) for stamp in stamps])


@pytest.mark.parametrize("order", list(permutations([(1, 3), (2, 3), (3, 2), (5, 1)])))
def test_any_order(order):
    d = desk(order)
    assert [d.ways(n) for n in range(22)] == [by_hand(order, n) for n in range(22)]


def test_random_stocks():
    chance = random.Random(9)
    for _ in range(60):
        stamps = [(c, chance.randint(0, 4)) for c in chance.sample(range(1, 12), 4)]
        amount = chance.randint(0, 40)
        assert desk(stamps).ways(amount) == by_hand(stamps, amount)


def test_cheapest():
    assert desk([(30, 2), (45, 1)]).cheapest(50) == 60
    assert desk([(30, 2), (45, 1)]).cheapest(100) == 105
    assert desk([(30, 2)]).cheapest(61) is None


def test_large_stock_quickly():
    stamps = [(c, 200) for c in (1, 2, 5, 10, 20, 50)]
    assert desk(stamps).ways(200) == desk(stamps[::-1]).ways(200) > 10000


def test_fewest():
    assert desk([(1, 9), (4, 2), (6, 1)]).fewest(8) == 2


def test_numbers_of_ways():
    assert desk([(1, 3), (2, 3), (3, 2), (5, 1)]).ways(9) == 8
    assert desk([(5, 1), (3, 2), (2, 3), (1, 3)]).ways(14) == 6
    assert desk([(1, 3), (2, 3), (3, 2), (5, 1)]).ways(19) == 1


def test_ways_of_a_large_letter():
    assert desk([(5, 1), (1, 3), (3, 2), (2, 3)]).ways(15) == 5
    assert desk([(3, 2), (5, 1), (1, 3), (2, 3)]).ways(17) == 3
