# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Numbers of squares."""
from __future__ import annotations

from typing import Dict, Iterator, NamedTuple

from crossword.grid import Grid, Square


class Start(NamedTuple):
    """A square where words start."""

    number: int
    square: Square
    across: bool
    down: bool


def starts_across(grid: Grid, row: int, column: int) -> bool:
    """Whether a word across, of two letters at least, starts here."""
    return grid.white(row, column) and not grid.white(row, column - 1)


def starts_down(grid: Grid, row: int, column: int) -> bool:
    """Whether a word down, of two letters at least, starts here."""
    return grid.white(row, column) and not grid.white(row - 1, column) and grid.white(row + 1, column)


def starts(grid: Grid) -> Iterator[Start]:
    """The squares where words start, numbered row by row."""
    number = 0
    for row in range(grid.height):
        for column in range(grid.width):
            across, down = starts_across(grid, row, column), starts_down(grid, row, column)
            if across or down:
                number += 1
                yield Start(number, (row, column), across, down)


def numbers(grid: Grid) -> Dict[Square, int]:
    """The number in each numbered square."""
    return {start.square: start.number for start in starts(grid)}
