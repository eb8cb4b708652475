# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random
from functools import lru_cache

import pytest

from duel import Game, best_move, value
from duel.player import play
from duel.search import Search


@lru_cache(maxsize=None)
def plain(coins):
    """The gain of the player by plain search."""
    game = Game(coins)
    return max((sum(coins) - sum(game.after(m).coins) - plain(game.after(m).coins) for m in game.moves()), default=0)


@pytest.mark.parametrize("size", range(1, 9))
def test_like_plain_search(size):
    chance = random.Random(size)
    for _ in range(10):
        coins = tuple(chance.randint(-3, 9) for _ in range(size))
        lead = chance.randint(-5, 5)
        assert value(Game(coins, lead)) == lead + plain(coins), coins


def test_best_moves_keep_the_value():
    chance = random.Random(77)
    for _ in range(15):
        game = Game(tuple(chance.randint(0, 9) for _ in range(7)))
        assert value(game.after(best_move(game))) == -value(game)


def test_bounds():
    chance = random.Random(5)
    for _ in range(60):
        coins = tuple(chance.randint(0, 9) for _ in range(6))
        exact = plain(coins)
        low = chance.randint(-12, 11)
        high = low + chance.randint(1, 8)
        found = Search().gain(Game(coins), low, high)
        if low < exact < high:
            assert found == exact
        elif exact <= low:
            assert found <= low
        else:
            assert found >= high


def test_what_is_known_from_other_bounds():
    chance = random.Random(9)
    for _ in range(12):
        game = Game(tuple(chance.randint(0, 9) for _ in range(6)))
        exact = plain(game.coins)
        for low in range(exact - 3, exact + 4):
            for high in (low + 1, low + 3):
                search = Search()
                search.gain(game, low, high)
                assert search.gain(game) == exact
                assert search.gain(game, exact - 1, exact + 1) == exact


@pytest.fixture
def tried(monkeypatch):
    """The moves that were tried."""
    moves = []
    after = Game.after

    def counting(self, move):
        moves.append(move)
        return after(self, move)

    monkeypatch.setattr(Game, "after", counting)
    return moves


def test_search_leaves_much_out(tried):
    value(Game((5, 3, 8, 1, 9, 2, 7, 4, 6)))
    assert len(tried) < 4000


def test_rows_met_again_are_not_searched_again(tried):
    search = Search()
    game = Game((5, 3, 8, 1, 9, 2, 7))
    assert search.gain(game) == plain(game.coins)
    tried.clear()
    assert search.gain(game) == plain(game.coins)
    assert tried == []


@pytest.mark.parametrize("high, count", [(4, 1), (5, 1), (6, 2)])
def test_nothing_more_is_tried_when_the_gain_is_high(tried, high, count):
    Search().gain(Game((5,)), -20, high)
    assert len(tried) == count


def test_whole_game():
    assert sum(int(line[0]) for line in play(Game((3, 8, 1, 9, 2, 7)))) == 6


def test_long_games():
    assert value(Game((1, 9, 0, 7, 4, 8, 3, 3))) == 7
    assert value(Game((9, 2, 5, 8, 9, 9, 1, 3))) == 10
    assert value(Game((4, 2, 0, 5, 5, 5, 2, 6))) == 3


def test_a_long_game_with_a_lead():
    assert value(Game((5, 1, 6, 2, 0, 4, 6, 6), 2)) == 10
    assert value(Game((8, 4, 6, 3, 4, 6, 4, 8), -4)) == -3
