# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The map."""
from __future__ import annotations

from typing import List, Tuple

WALLS = "#~"


class World:
    """Tiles in rows; row 0 is at the top, column 0 on the left."""

    def __init__(self, text: str) -> None:
        self._rows: List[str] = [line for line in text.split("\n") if line]
        if len({len(row) for row in self._rows}) != 1:
            raise ValueError("rows differ in length")

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self._rows[0])

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def tile(self, x: int, y: int) -> str:
        """The tile in a column and row; IndexError outside of the map."""
        if x < 0 or y < 0:
            raise IndexError("tile off the map: %d, %d" % (x, y))
        return self._rows[y][x]

    def can_enter(self, x: int, y: int) -> bool:
        """Whether the place is on the map and no wall or water."""
        return 0 <= x < self.width and 0 <= y < self.height and self.tile(x, y) not in WALLS

    def find(self, tile: str) -> Tuple[int, int]:
        """Column and row of the first such tile, row by row; ValueError if there is none."""
        for y, row in enumerate(self._rows):
            if tile in row:
                return row.index(tile), y
        raise ValueError("no such tile: " + tile)
