# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Grids with some digits."""
from __future__ import annotations

from typing import Dict, Set

from sudoku.layout import LAYOUTS, Cell, peers


class Grid:
    """Digits by cell, read from rows of digits and dots."""

    def __init__(self, text: str) -> None:
        rows = text.split()
        self.layout = LAYOUTS[len(rows)]
        self.digits: Dict[Cell, int] = {}
        for row, line in enumerate(rows):
            for column, sign in enumerate(line):
                if sign != ".":
                    self.put((row, column), int(sign))

    def put(self, cell: Cell, digit: int) -> None:
        """Write a digit; ValueError if row, column or box has it already or it is out of range."""
        if digit not in self.candidates(cell):
            raise ValueError("%d cannot go to %r" % (digit, cell))
        self.digits[cell] = digit

    def candidates(self, cell: Cell) -> Set[int]:
        """The digits that may still go into a cell, its present one aside."""
        taken = {self.digits.get(other) for other in peers(self.layout, cell)}
        return {digit for digit in range(1, self.layout.size + 1) if digit not in taken}

    def text(self) -> str:
        """The rows, separated by blanks."""
        size = self.layout.size
        return " ".join("".join(str(self.digits.get((r, c), ".")) for c in range(size)) for r in range(size))
