# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import random

import pytest

from cup.bracket import Bracket
from cup.seeding import seed_order

EIGHT = list("abcdefgh")


def test_stuck_in_a_middle_round():
    cup = Bracket(EIGHT)
    cup.report("a", "h")
    cup.withdraw("a")
    cup.report("d", "e")
    assert cup.open_matches() == [("b", "g"), ("c", "f")]
    cup.report("b", "g")
    cup.report("f", "c")
    assert cup.open_matches() == [("b", "f")]
    cup.report("f", "b")
    assert cup.open_matches() == [("d", "f")]


def test_walkover_leads_to_the_next_walkover():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.report("ann", "dan")
    cup.withdraw("ann")
    assert cup.champion is None
    cup.withdraw("cat")
    assert cup.champion == "ben"


def test_chain_over_two_rounds():
    cup = Bracket(EIGHT)
    for winner, loser in (("a", "h"), ("d", "e"), ("a", "d"), ("b", "g")):
        cup.report(winner, loser)
    cup.withdraw("a")
    cup.withdraw("b")
    assert cup.open_matches() == [("c", "f")]
    cup.report("c", "f")
    assert cup.champion == "c"


def test_bye_and_withdrawal():
    cup = Bracket(["ann", "ben", "cat"])
    cup.withdraw("ann")
    cup.report("cat", "ben")
    assert cup.champion == "cat"


def test_everybody_withdraws():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    for player in ("ann", "ben", "cat", "dan"):
        cup.withdraw(player)
    assert cup.champion == "dan" and cup.open_matches() == []
    pair = Bracket(["ann", "ben", "cat", "dan"])
    pair.withdraw("ann")
    pair.withdraw("dan")
    pair.report("cat", "ben")
    assert pair.champion == "cat"


def test_byes_and_paths():
    cup = Bracket(["a", "b", "c", "d", "e", "f"])
    assert cup.open_matches() == [("d", "e"), ("c", "f")]
    cup.report("e", "d")
    assert cup.open_matches() == [("c", "f"), ("a", "e")]
    cup.report("e", "a")
    assert cup.path("e") == ["d", "a"]
    assert cup.path("a") == ["e"]


def test_losers_may_withdraw():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.report("ann", "dan")
    cup.withdraw("dan")
    cup.report("ben", "cat")
    assert cup.open_matches() == [("ann", "ben")]
    with pytest.raises(ValueError):
        cup.report("ann", "dan")


def test_seed_order():
    assert seed_order(8) == [1, 8, 4, 5, 2, 7, 3, 6]


def test_walkover_from_below():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.report("ben", "cat")
    cup.withdraw("ben")
    cup.report("ann", "dan")
    assert cup.champion == "ann"
    assert cup.open_matches() == []


def test_paths_list_opponents_who_withdrew():
    cup = Bracket(["ann", "ben", "cat", "dan"])
    cup.report("ann", "dan")
    cup.withdraw("ann")
    cup.report("ben", "cat")
    assert cup.champion == "ben"
    assert cup.path("ben") == ["cat", "ann"]
    assert cup.path("ann") == ["dan", "ben"]


@pytest.mark.parametrize("size", range(2, 12))
def test_no_cup_gets_stuck(size):
    chance = random.Random(size)
    for _ in range(40):
        players = ["p%02d" % number for number in range(size)]
        cup, out = Bracket(players), set()
        while cup.champion is None:
            pairs = cup.open_matches()
            assert pairs
            waiting = [player for pair in pairs for player in pair]
            assert len(set(waiting)) == len(waiting) and not set(waiting) & out
            if chance.random() < 0.4:
                player = chance.choice(players)
                out.add(player)
                cup.withdraw(player)
            else:
                winner, loser = chance.sample(chance.choice(pairs), 2)
                cup.report(winner, loser)
                assert loser in cup.path(winner) and winner in cup.path(loser)
        assert cup.open_matches() == []
