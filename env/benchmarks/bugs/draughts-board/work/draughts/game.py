# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Play moves."""
from __future__ import annotations

from typing import List

from draughts.board import Board, Piece, Square
from draughts.rules import Move, captures, moves


class Game:
    """A game; white begins unless told otherwise."""

    def __init__(self, board: Board, white_to_move: bool = True) -> None:
        self.board = board
        self.white_to_move = white_to_move

    def options(self) -> List[Move]:
        return moves(self.board, self.white_to_move)

    def play(self, start: Square, end: Square) -> None:
        """Play the move; ValueError if it is not allowed.

        A man that reaches the far row becomes a king. The turn passes unless
        the piece captured and can capture again.
        """
        for move in self.options():
            if (move.start, move.end) == (start, end):
                break
        else:
            raise ValueError("not allowed")
        piece = self.board.pieces.pop(start)
        if end[0] == (7 if piece.white else 0):
            piece = Piece(piece.white, True)
        self.board.pieces[end] = piece
        if move.taken is not None:
            del self.board.pieces[move.taken]
            if any(captures(self.board, end, piece)):
                return
        self.white_to_move = not self.white_to_move
