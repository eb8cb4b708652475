# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from cup.bracket import Bracket


def test_four_players():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    assert cup.open_matches() == [("ann", "dan"), ("ben", "cat")]
    cup.report("ann", "dan")
    cup.report("cat", "ben")
    assert cup.open_matches() == [("ann", "cat")]
    cup.report("cat", "ann")
    assert cup.champion == "cat"


def test_withdrawal_before_a_match():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.withdraw("ann")
    cup.report("ben", "cat")
    assert cup.open_matches() == [("dan", "ben")]


def test_finalist_withdraws_early():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.report("ann", "dan")
    cup.withdraw("ann")
    cup.report("ben", "cat")
    assert cup.champion == "ben"
    assert cup.open_matches() == []


def test_unknown_match():
    with pytest.raises(ValueError):
        Bracket(["ann", "ben", "cat"]).report("ann", "ben")
