# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The shape of a sudoku."""
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import FrozenSet, List, Tuple

Cell = Tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """Boxes of `height` rows and `width` columns; as many digits as a box has cells."""

    height: int
    width: int

    @property
    def size(self) -> int:
        return self.height * self.width

    def cells(self) -> List[Cell]:
        return [(row, column) for row in range(self.size) for column in range(self.size)]

    @lru_cache(maxsize=None)
    def peers(self, cell: Cell) -> FrozenSet[Cell]:
        """The other cells in the row, the column and the box of a cell."""
        row, column = cell
        found = {(row, other) for other in range(self.size)} | {(other, column) for other in range(self.size)}
        top, left = row - row % self.height, column - column % self.width
        found |= {(top + i, left + j) for i in range(self.height) for j in range(self.width)}
        return frozenset(found - {cell})
