# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Grids."""
from __future__ import annotations

from typing import List, Tuple

BLACK = "#"
Square = Tuple[int, int]


class Grid:
    """Rows of letters and black squares."""

    def __init__(self, text: str) -> None:
        self.rows: List[str] = text.split()
        if len({len(row) for row in self.rows}) > 1:
            raise ValueError("rows differ in length")
        self.height = len(self.rows)
        self.width = len(self.rows[0]) if self.rows else 0

    def white(self, row: int, column: int) -> bool:
        """Whether there is a letter; there is none outside."""
        return 0 <= row < self.height and 0 <= column < self.width and self.rows[row][column] != BLACK

    def word(self, row: int, column: int, down: bool) -> str:
        """The letters from a square on to the right or down."""
        letters = ""
        while self.white(row, column):
            letters += self.rows[row][column]
            row, column = (row + 1, column) if down else (row, column + 1)
        return letters
