# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

from duel import Game, best_move, value
from duel.player import play


def test_short_games():
    assert value(Game((5,))) == 5
    assert value(Game((1, 2))) == 3
    assert value(Game((3, 1, 9))) == 7
    assert str(best_move(Game((3, 1, 9)))) == "2 from the right"


def test_nothing_left():
    assert value(Game((), 4)) == 4
    assert best_move(Game(())) is None


def test_middle_game():
    assert value(Game((8, 5, 6, 3, 8, 3, 9))) == 6


def test_self_play_takes_all():
    assert sum(int(line[0]) for line in play(Game((4, 4, 1, 6)))) == 4
