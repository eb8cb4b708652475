# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from kalah.board import Board
from kalah.game import Game


def test_last_position_of_player_0():
    for pit in range(6):
        for count in range(1, 40):
            seeds = [0] * 14
            seeds[pit] = count
            board = Board(seeds)
            position, left = pit, count
            expected = [0] * 14
            while left:
                position = (position + 1) % 14
                if position != 13:
                    expected[position] += 1
                    left -= 1
            assert board.sow(0, pit) == position
            assert board.seeds == expected


def test_last_position_of_player_1():
    for pit in range(7, 13):
        for count in range(1, 40):
            seeds = [0] * 14
            seeds[pit] = count
            board = Board(seeds)
            position, left = pit, count
            while left:
                position = (position + 1) % 14
                left -= position != 6
            assert board.sow(1, pit) == position
            assert sum(board.seeds) == count and board.seeds[6] == 0


def test_another_turn_after_a_lap():
    game = Game([0, 0, 0, 0, 0, 14, 0, 1, 1, 1, 1, 1, 1, 0])
    game.play(6)
    assert game.turn == 0
    assert game.board.seeds == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0]


def test_full_lap_captures():
    game = Game([2, 2, 13, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0])
    game.play(3)
    assert game.board.seeds == [3, 3, 0, 1, 1, 1, 4, 2, 2, 2, 0, 2, 2, 0]
    assert game.turn == 1


def test_no_capture_on_the_other_side():
    game = Game([5, 0, 0, 0, 0, 7, 0, 1, 1, 1, 1, 1, 0, 0])
    game.play(6)
    assert game.board.seeds == [5, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 1, 0]
    assert game.turn == 1


def test_player_1_passes_the_store():
    game = Game([1, 1, 1, 1, 1, 1, 5, 0, 0, 3, 0, 0, 9, 5], turn=1)
    game.play(6)
    assert game.board.seeds == [2, 2, 2, 2, 0, 2, 5, 1, 0, 3, 0, 0, 0, 9]


def test_end_of_the_game():
    game = Game([0, 0, 0, 0, 0, 1, 20, 1, 2, 0, 0, 0, 0, 24])
    game.play(6)
    assert game.over and game.score == (21, 27) and game.winner == 1
    assert game.moves() == []


def test_wrong_board():
    with pytest.raises(ValueError):
        Board([1, 2, 3])
