# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from callrating.prefixes import PrefixTree
from callrating.rating import Tariff, UnknownDestination, rate_call


def tree():
    result = PrefixTree()
    for prefix, name in [("1", "us"), ("1684", "samoa"), ("168", "odd"), ("44", "uk"), ("1", "usa")]:
        result.add(prefix, name)
    return result


@pytest.mark.parametrize(
    "number, found",
    [
        ("12125550000", ("1", "usa")),
        ("16841", ("1684", "samoa")),
        ("1684", ("1684", "samoa")),
        ("168", ("168", "odd")),
        ("16", ("1", "usa")),
        ("4", ("", None)),
        ("", ("", None)),
        ("449", ("44", "uk")),
        ("99", ("", None)),
        ("19684", ("1", "usa")),
        ("1648", ("1", "usa")),
        ("16984", ("1", "usa")),
        ("944", ("", None)),
        ("414", ("", None)),
    ],
)
def test_lookup(number, found):
    assert tree().lookup(number) == found


def test_walk_and_size():
    assert list(tree().walk()) == [("1", "usa"), ("168", "odd"), ("1684", "samoa"), ("44", "uk")]
    assert len(tree()) == 4


def test_not_answered():
    assert rate_call(tree(), {"uk": Tariff(1, 1)}, "+44 1", 0) == 0
    assert rate_call(tree(), {"uk": Tariff(1, 1)}, "+44 1", 1) == 2


def test_unknown_even_if_not_answered():
    with pytest.raises(UnknownDestination):
        rate_call(tree(), {}, "4", 0)


def test_many_trees():
    chance = random.Random(2)
    for _ in range(120):
        prefixes, tree_ = {}, PrefixTree()
        for number in range(chance.randint(0, 12)):
            prefix = "".join(chance.choice("0123") for _ in range(chance.randint(1, 4)))
            prefixes[prefix] = f"t{number}"
            tree_.add(prefix, f"t{number}")
        assert len(tree_) == len(prefixes)
        assert list(tree_.walk()) == sorted(prefixes.items())
        for _ in range(25):
            number = "".join(chance.choice("01234") for _ in range(chance.randint(0, 6)))
            best = max((p for p in prefixes if number.startswith(p)), key=len, default="")
            assert tree_.lookup(number) == (best, prefixes.get(best))


def test_minutes_begun():
    tariffs = {"uk": Tariff(10, 7), "usa": Tariff(0, 3)}
    assert [rate_call(tree(), tariffs, "0044 20", s) for s in (-1, 1, 59, 60, 61, 120, 121)] == [0, 17, 17, 17, 24, 24, 31]
    assert rate_call(tree(), tariffs, "+1 (212) 555-0000", 60) == 3
    with pytest.raises(UnknownDestination):
        rate_call(tree(), tariffs, "0049 1", 10)
