# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sizes of puzzles."""
from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import FrozenSet, List, Tuple

Cell = Tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """Boxes of `box_rows` rows and `box_columns` columns; the grid has as many rows as a box has cells."""

    box_rows: int
    box_columns: int

    @property
    def size(self) -> int:
        return self.box_rows * self.box_columns

    def cells(self) -> List[Cell]:
        return [(row, column) for row in range(self.size) for column in range(self.size)]

    def box(self, cell: Cell) -> int:
        """The number of the box the cell is in; boxes are numbered row by row from 0."""
        row, column = cell
        boxes_beside = self.size // self.box_columns
        return row // self.box_rows * boxes_beside + column // self.box_rows


@lru_cache(maxsize=None)
def peers(layout: Layout, cell: Cell) -> FrozenSet[Cell]:
    """The other cells of the cell's row, column and box."""
    row, column = cell
    return frozenset(
        other
        for other in layout.cells()
        if other != cell and (other[0] == row or other[1] == column or layout.box(other) == layout.box(cell))
    )


LAYOUTS = {4: Layout(2, 2), 6: Layout(2, 3), 8: Layout(2, 4), 9: Layout(3, 3)}
