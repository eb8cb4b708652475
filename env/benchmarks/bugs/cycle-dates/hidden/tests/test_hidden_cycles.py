# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from datetime import date
from math import gcd
import random

import pytest

from cycles import Cycle, NeverMeet, Planner, meet
from cycles.numbers import bezout


def by_hand(*cycles):
    length = 1
    for c in cycles:
        length = length * c.length // gcd(length, c.length)
    found = [day for day in range(length) if all(c.due(day) for c in cycles)]
    return Cycle(length, found[0]) if found else None


def met(*cycles):
    try:
        return meet(cycles)
    except NeverMeet:
        return None


def test_all_small_pairs():
    for a in range(1, 13):
        for b in range(1, 13):
            for x in range(a):
                for y in range(b):
                    pair = Cycle(a, x), Cycle(b, y)
                    assert met(*pair) == by_hand(*pair), pair


@pytest.mark.parametrize("cycles", [
    [(4, 3), (6, 1), (9, 7)], [(12, 11), (18, 5), (8, 7)], [(6, 0), (10, 0), (15, 0)], [(6, 1), (10, 3), (15, 13)], [(7, 7)],
])
def test_several(cycles):
    cycles = [Cycle(*c) for c in cycles]
    assert met(*cycles) == by_hand(*cycles)


def test_none_at_all_and_large_lengths():
    assert meet([]) == Cycle(1, 0)
    a, b = 2 * 10**9, 3 * 10**9
    found = meet([Cycle(a, 5), Cycle(b, 5 + 10**9)])
    assert found == Cycle(6 * 10**9, 5 + 4 * 10**9)


def test_bezout():
    for a in range(1, 40):
        for b in range(1, 40):
            g, x, y = bezout(a, b)
            assert g == gcd(a, b) == a * x + b * y


def test_same_cycle_twice():
    planner = Planner()
    planner.add("a", date(2024, 2, 10), 12)
    planner.add("b", date(2024, 2, 22), 12)
    planner.add("c", date(2024, 2, 16), 6)
    assert planner.together(["a", "b", "c"], date(2024, 2, 10)) == date(2024, 2, 22)


@pytest.mark.parametrize("pair, wanted", [
    (((40, 39), (100, 79)), (200, 79)),
    (((90, 70), (60, 10)), (180, 70)),
    (((84, 80), (120, 116)), (840, 836)),
    (((1000, 998), (750, 748)), (3000, 2998)),
])
def test_long_cycles(pair, wanted):
    assert meet([Cycle(*c) for c in pair]) == Cycle(*wanted)


def test_where_pairs_meet():
    both = meet([Cycle(6, 2), Cycle(4, 0)])
    assert both.offset == 8
    assert both.length == 12


def test_where_three_meet():
    all_three = meet([Cycle(4, 3), Cycle(6, 1), Cycle(9, 7)])
    assert all_three.offset == 7
    assert all_three.length == 36


def test_long_cycles_meet_on_the_day_they_are_due():
    assert meet([Cycle(6 * 10**16, 5), Cycle(10 * 10**16, 5 + 4 * 10**16)]) == Cycle(30 * 10**16, 5 + 24 * 10**16)
    chance = random.Random(6)
    for _ in range(200):
        common, length = chance.randint(10**15, 10**16), 1
        lengths = [common * chance.randint(1, 40) for _ in range(chance.randint(2, 4))]
        day = chance.randint(0, 999) + lengths[0] * chance.randint(0, 40)
        for each in lengths:
            length = length * each // gcd(length, each)
        assert meet(Cycle(each, day) for each in lengths) == Cycle(length, day)
