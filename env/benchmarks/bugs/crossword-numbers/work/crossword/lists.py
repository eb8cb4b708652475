# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The lists of words."""
from __future__ import annotations

from typing import Dict, List, Tuple

from crossword.grid import Grid
from crossword.numbering import starts

Words = Dict[int, str]


def word_lists(grid: Grid) -> Tuple[Words, Words]:
    """The words across and down by number."""
    across: Words = {}
    down: Words = {}
    for start in starts(grid):
        if start.across:
            across[start.number] = grid.word(*start.square, down=False)
        if start.down:
            down[start.number] = grid.word(*start.square, down=True)
    return across, down


def show(grid: Grid) -> List[str]:
    """Lines such as `2 across (5)`, first all across, then all down."""
    across, down = word_lists(grid)
    lines = ["%d across (%d)" % (number, len(word)) for number, word in across.items()]
    return lines + ["%d down (%d)" % (number, len(word)) for number, word in down.items()]
