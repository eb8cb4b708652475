# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from shares import Bill, House, split


@pytest.mark.parametrize("cents, weights, shares", [
    (100, [1, 1, 1], [34, 33, 33]),
    (200, [1, 1, 1], [67, 67, 66]),
    (1, [1, 1], [1, 0]),
    (10, [1, 5, 1], [2, 7, 1]),
    (5, [0, 1, 1, 0], [0, 3, 2, 0]),
    (1, [1, 1, 3], [0, 0, 1]),
    (0, [1, 2], [0, 0]),
    (3, [2, 1, 2, 2, 3], [1, 0, 1, 0, 1]),
])
def test_shares(cents, weights, shares):
    assert split(cents, weights) == shares
    assert split(-cents, weights) == [-share for share in shares]


def test_always_closes_and_never_off_by_a_cent():
    chance = random.Random(1)
    for _ in range(300):
        weights = [chance.randint(0, 9) for _ in range(chance.randint(1, 8))] + [1]
        cents = chance.randint(-500, 500)
        shares = split(cents, weights)
        assert sum(shares) == cents
        for share, weight in zip(shares, weights):
            assert abs(share * sum(weights) - cents * weight) < sum(weights)


def test_large_amounts():
    assert sum(split(10**17 + 1, [3, 3, 1])) == 10**17 + 1


def test_house_without_a_key():
    house = House({"a": {"x": 1}, "b": {}})
    assert house.shares(Bill("t", 5, "x")) == {"a": 5, "b": 0}
    with pytest.raises(ValueError):
        house.shares(Bill("t", 5, "y"))


def test_negative_weights_are_refused():
    with pytest.raises(ValueError):
        split(10, [3, -1, 2])
    with pytest.raises(ValueError):
        split(-10, [-1, 5])
    assert split(10, [0, 4]) == [0, 10]


def by_hand(cents, weights):
    amount, total = abs(cents), sum(weights)
    shares = [amount * weight // total for weight in weights]
    cut_off = [amount * weight % total for weight in weights]
    first = sorted(range(len(weights)), key=lambda index: -cut_off[index])
    for index in first[: amount - sum(shares)]:
        shares[index] += 1
    return [share if cents > 0 else -share for share in shares]


def test_like_sums_in_whole_numbers():
    chance = random.Random(3)
    for _ in range(1500):
        weights = [chance.randint(0, 12) for _ in range(chance.randint(1, 6))] + [chance.randint(1, 9)]
        cents = chance.choice([chance.randint(-99, 99), chance.randint(-(10**20), 10**20)])
        kept = list(weights)
        assert split(cents, weights) == by_hand(cents, weights), (cents, weights)
        assert weights == kept


@pytest.mark.parametrize("cents, weights, shares", [
    (52, [3, 2, 9], [11, 8, 33]),
    (44, [3, 8, 9], [7, 17, 20]),
    (10**17 + 1, [3, 3, 1], [42857142857142858, 42857142857142857, 14285714285714286]),
])
def test_equal_parts_cut_off(cents, weights, shares):
    assert split(cents, weights) == shares
    assert split(-cents, tuple(weights)) == [-share for share in shares]
