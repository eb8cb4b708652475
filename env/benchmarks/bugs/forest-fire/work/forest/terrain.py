# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The forest as a map."""
from __future__ import annotations

from typing import Dict, Iterator, List, Tuple

Cell = Tuple[int, int]

EMPTY, TREE, FIRE, ASH = ".", "T", "*", "a"


class Terrain:
    """Cells by row and column."""

    def __init__(self, rows: List[str]) -> None:
        if len({len(row) for row in rows}) > 1:
            raise ValueError("rows of equal length expected")
        self.height = len(rows)
        self.width = len(rows[0]) if rows else 0
        self._cells: Dict[Cell, str] = {(y, x): sign for y, row in enumerate(rows) for x, sign in enumerate(row)}

    def __getitem__(self, cell: Cell) -> str:
        return self._cells[cell]

    def __setitem__(self, cell: Cell, sign: str) -> None:
        self._cells[cell] = sign

    def cells(self) -> Iterator[Cell]:
        """All cells, row by row."""
        return iter(self._cells)

    def neighbours(self, cell: Cell) -> Iterator[Cell]:
        """The cells beside, above and below."""
        y, x = cell
        for other in ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x)):
            if other in self._cells:
                yield other

    def count(self, sign: str) -> int:
        return sum(1 for value in self._cells.values() if value == sign)

    def rows(self) -> List[str]:
        return ["".join(self._cells[y, x] for x in range(self.width)) for y in range(self.height)]
