# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from kings import Game, IllegalMove


def test_castling_short():
    game = Game()
    game.move("e1", "g1")
    assert game.board["g1"] == "K" and game.board["f1"] == "R" and "h1" not in game.board


def test_no_castling_after_a_king_move():
    game = Game()
    for start, end in (("e1", "e2"), ("a8", "b8"), ("e2", "e1"), ("b8", "a8")):
        game.move(start, end)
    with pytest.raises(IllegalMove):
        game.move("e1", "g1")


def test_castling_after_takeback():
    game = Game()
    game.move("e1", "e2")
    game.take_back()
    game.move("e1", "g1")
    assert game.board["g1"] == "K"
