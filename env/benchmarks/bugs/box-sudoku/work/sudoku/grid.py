# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Grids."""
from __future__ import annotations

from typing import Dict, Optional, Set

from .shape import Cell, Shape


class Grid:
    """For each cell the digits that are still possible."""

    def __init__(self, shape: Shape, options: Dict[Cell, Set[int]]) -> None:
        self.shape = shape
        self.options = options

    @classmethod
    def read(cls, text: str, shape: Shape) -> Optional["Grid"]:
        """The grid of a puzzle, with "." for an empty cell; None if the digits contradict each other."""
        digits = [c for c in text if not c.isspace()]
        cells = shape.cells()
        if len(digits) != len(cells):
            raise ValueError(f"{len(cells)} cells expected")
        grid = cls(shape, {cell: set(range(1, shape.size + 1)) for cell in cells})
        for cell, digit in zip(cells, digits):
            if digit != "." and not grid.place(cell, int(digit)):
                return None
        return grid

    def copy(self) -> "Grid":
        return Grid(self.shape, dict(self.options))

    def place(self, cell: Cell, digit: int) -> bool:
        """Put a digit into a cell, and all that follows from it; whether that is possible.

        If it is not, the grid is of no more use.
        """
        if digit not in self.options[cell]:
            return False
        self.options[cell] = {digit}
        return all(self._exclude(peer, digit) for peer in self.shape.peers(cell))

    def _exclude(self, cell: Cell, digit: int) -> bool:
        digits = self.options[cell]
        if digit not in digits:
            return True
        digits.discard(digit)
        if not digits:
            return False
        return len(digits) > 1 or self.place(cell, next(iter(digits)))

    def hardest(self) -> Optional[Cell]:
        """The first open cell with the fewest digits, or None if all are filled."""
        cells = [cell for cell in self.shape.cells() if len(self.options[cell]) > 1]
        return min(cells, key=lambda cell: len(self.options[cell]), default=None)

    def __str__(self) -> str:
        size = self.shape.size
        texts = [str(min(d)) if len(d) == 1 else "." for d in map(self.options.__getitem__, self.shape.cells())]
        return "\n".join("".join(texts[i : i + size]) for i in range(0, size * size, size))
