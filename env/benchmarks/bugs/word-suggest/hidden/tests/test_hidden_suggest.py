# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from suggest import Checker, distance


@pytest.mark.parametrize("a, b, steps", [
    ("ab", "ba", 1), ("abcd", "badc", 2), ("abcdef", "badcfe", 3), ("ca", "abc", 3), ("hopsitla", "hospital", 2),
    ("xab", "ba", 2), ("abx", "ba", 2), ("aab", "aba", 1),
])
def test_limits_do_not_change_small_distances(a, b, steps):
    for limit in range(0, 6):
        for x, y in ((a, b), (b, a)):
            found = distance(x, y, limit)
            assert found == steps if steps <= limit else found > limit


def test_random_words():
    chance = random.Random(5)
    for _ in range(400):
        a, b = ("".join(chance.choice("abc") for _ in range(chance.randint(0, 9))) for _ in range(2))
        exact = distance(a, b)
        assert exact == distance(b, a)
        for limit in (0, 1, 2, 3):
            found = distance(a, b, limit)
            assert found == exact if exact <= limit else found > limit


@pytest.mark.parametrize("typed, word", [
    ("wrold", "world"), ("owrld", "world"), ("wordl", "world"), ("owrdl", "world"), ("hte", "the"), ("eht", None), ("ehre", None), ("ehr", "her"),
])
def test_swaps(typed, word):
    assert Checker(["world", "the", "her", "xyz"]).suggest(typed) == ([word] if word else [])


def test_far_words():
    assert distance("a" * 4000, "b" * 3, 2) == 3
    assert distance("running", "runny", 2) == distance("runny", "running", 2) == 3
    assert distance("abcdefgh", "abcdex", 2) == 3
    assert Checker(["plant", "place"]).suggest("planets") == ["plant"]


def test_order_of_suggestions():
    checker = Checker("bat bat cat cat hat rat rat rat".split())
    assert checker.suggest("xat") == ["rat", "bat", "cat"]
    assert checker.suggest("bta") == ["bat"]
    assert checker.suggest("at", most=1) == ["rat"]


def test_swap_at_the_end_after_another_error():
    checker = Checker(["calendar", "keyboard"])
    assert checker.suggest("xalendra") == ["calendar"]
    assert checker.suggest("keybaordx") == ["keyboard"]
