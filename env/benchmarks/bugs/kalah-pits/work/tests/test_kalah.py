# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from kalah.game import Game, IllegalMove, replay


def test_opening_with_another_turn():
    game = replay([3])
    assert game.turn == 0
    assert game.board.seeds == [4, 4, 0, 5, 5, 5, 1, 4, 4, 4, 4, 4, 4, 0]


def test_capture():
    game = Game([1, 0, 2, 0, 0, 0, 0, 1, 1, 1, 5, 3, 1, 0])
    game.play(1)
    assert game.board.seeds == [0, 0, 2, 0, 0, 0, 4, 1, 1, 1, 5, 0, 1, 0]
    assert game.turn == 1


def test_capture_after_a_long_move():
    game = Game([0, 0, 1, 0, 0, 9, 10, 2, 2, 2, 2, 2, 2, 16])
    game.play(6)
    assert game.board.seeds == [1, 0, 1, 0, 0, 0, 15, 3, 3, 3, 3, 0, 3, 16]
    assert game.turn == 1


def test_empty_pit():
    with pytest.raises(IllegalMove):
        replay([3, 3])
