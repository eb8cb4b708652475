# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Names of tiles."""
from __future__ import annotations

from typing import Iterator, NamedTuple


class Key(NamedTuple):
    """A tile by zoom level, column and row."""

    zoom: int
    x: int
    y: int


def around(zoom: int, x: int, y: int, reach: int) -> Iterator[Key]:
    """The tiles up to `reach` columns and rows away that exist at the zoom level, row by row."""
    last = 2 ** zoom - 1
    for row in range(max(0, y - reach), min(last, y + reach) + 1):
        for column in range(max(0, x - reach), min(last, x + reach) + 1):
            yield Key(zoom, column, row)
