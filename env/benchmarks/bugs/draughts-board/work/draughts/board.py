# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Squares and pieces. Row 0 is white's home row, so white goes up."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, Optional, Tuple

Square = Tuple[int, int]
SIGNS = {"w": (True, False), "W": (True, True), "b": (False, False), "B": (False, True)}


@dataclass(frozen=True)
class Piece:
    """A man or a king."""

    white: bool
    king: bool = False

    @property
    def sign(self) -> str:
        sign = "w" if self.white else "b"
        return sign.upper() if self.king else sign


class Board:
    """Pieces by square (row, column)."""

    def __init__(self, pieces: Optional[Dict[Square, Piece]] = None) -> None:
        self.pieces: Dict[Square, Piece] = dict(pieces or {})

    @classmethod
    def from_text(cls, text: str) -> "Board":
        """Read eight rows, the top row (7) first; `.` is empty."""
        board = cls()
        for number, line in enumerate(text.split()):
            for column, sign in enumerate(line):
                if sign in SIGNS:
                    board.pieces[(7 - number, column)] = Piece(*SIGNS[sign])
        return board

    def text(self) -> str:
        """The inverse of from_text."""
        rows = []
        for row in range(7, -1, -1):
            cells = (self.pieces.get((row, column)) for column in range(8))
            rows.append("".join("." if piece is None else piece.sign for piece in cells))
        return "\n".join(rows)

    @staticmethod
    def inside(square: Square) -> bool:
        return 0 <= square[0] < 8 and 0 <= square[1] < 8

    def of(self, white: bool) -> Iterator[Tuple[Square, Piece]]:
        """The squares and pieces of one side, lowest squares first."""
        for square in sorted(self.pieces):
            if self.pieces[square].white == white:
                yield square, self.pieces[square]
