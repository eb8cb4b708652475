# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
import pytest

from draughts.board import Board
from draughts.game import Game
from draughts.rules import Move, moves

START = "........ ........ ........ ..b..... .w...... ........ ........ ........"


def test_white_must_capture():
    assert moves(Board.from_text(START), True) == [Move((3, 1), (5, 3), (4, 2))]


def test_steps():
    board = Board.from_text("........ ........ ........ .....b.. ........ ........ w....... ........")
    assert moves(board, True) == [Move((1, 0), (2, 1))]
    assert moves(board, False) == [Move((4, 5), (3, 4)), Move((4, 5), (3, 6))]


def test_king_captures():
    board = Board.from_text("........ ........ ........ ..B..... .w.w.... ........ ........ ........")
    assert {move.end for move in moves(board, False)} == {(2, 0), (2, 4)}


def test_not_allowed():
    with pytest.raises(ValueError):
        Game(Board.from_text(START)).play((3, 1), (2, 0))
