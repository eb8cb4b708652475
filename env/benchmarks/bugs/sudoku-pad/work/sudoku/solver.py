# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Solve puzzles."""
from __future__ import annotations

from typing import Optional, Set, Tuple

from sudoku.grid import Grid
from sudoku.layout import Cell


def _tightest(grid: Grid) -> Optional[Tuple[Cell, Set[int]]]:
    """The empty cell with the fewest candidates, None if there is no empty cell."""
    empty = [(cell, grid.candidates(cell)) for cell in grid.layout.cells() if cell not in grid.digits]
    return min(empty, key=lambda pair: (len(pair[1]), pair[0]), default=None)


def solve(text: str) -> Optional[str]:
    """The rows of the solution (the first one found), None if there is none."""
    grid = Grid(text)

    def fill() -> bool:
        choice = _tightest(grid)
        if choice is None:
            return True
        cell, digits = choice
        for digit in sorted(digits):
            grid.digits[cell] = digit
            if fill():
                return True
            del grid.digits[cell]
        return False

    return grid.text() if fill() else None
