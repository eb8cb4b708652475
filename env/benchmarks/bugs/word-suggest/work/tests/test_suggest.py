# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from suggest import Checker, distance

WORDS = "ready reader really hotel hostel the then they them them walks walks walking stops".split()


def test_distance():
    assert distance("kitten", "sitting") == 3
    assert distance("raedy", "ready") == 1
    assert distance("", "abc") == 3
    assert distance("abcd", "wxyz", limit=2) == 3


def test_suggestions():
    checker = Checker(WORDS)
    assert checker.suggest("raedy") == ["ready"]
    assert checker.suggest("hte") == ["the"]
    assert checker.suggest("thex") == ["them", "the", "then"]


def test_longer_words():
    checker = Checker(WORDS)
    assert checker.suggest("walkign") == ["walking"]
    assert checker.suggest("stopping") == []


def test_text():
    assert Checker(WORDS).check("The hotl is REAdy") == [("hotl", ["hotel"]), ("is", [])]
