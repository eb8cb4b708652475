# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The solver."""
from __future__ import annotations

from typing import Iterator, Optional

from .grid import Grid
from .shape import Shape


def solutions(grid: Optional[Grid]) -> Iterator[Grid]:
    """All the solutions of a grid."""
    if grid is None:
        return
    cell = grid.hardest()
    if cell is None:
        yield grid
        return
    for digit in sorted(grid.options[cell]):
        attempt = grid.copy()
        if attempt.place(cell, digit):
            yield from solutions(attempt)


def solve(text: str, height: int = 3, width: int = 3) -> Optional[str]:
    """The first solution of a puzzle, or None."""
    found = next(solutions(Grid.read(text, Shape(height, width))), None)
    return None if found is None else str(found)


def count(text: str, height: int = 3, width: int = 3, most: int = 1000) -> int:
    """How many solutions a puzzle has; counts up to `most`."""
    number = 0
    for _ in solutions(Grid.read(text, Shape(height, width))):
        number += 1
        if number == most:
            break
    return number
