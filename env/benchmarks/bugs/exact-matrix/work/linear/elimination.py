# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Gaussian elimination on plain rows."""
from __future__ import annotations

from fractions import Fraction
from typing import Tuple

from linear.matrix import Rows


def triangulate(rows: Rows) -> Tuple[int, Fraction]:
    """Bring rows to echelon form, in place.

    Returns the rank and the sign (1 or -1) of the row exchanges.
    """
    rank = 0
    sign = Fraction(1)
    for column in range(len(rows[0])):
        pivot = next((r for r in range(rank, len(rows)) if rows[r][column]), None)
        if pivot is None:
            continue
        if pivot != rank:
            rows[rank], rows[pivot] = rows[pivot], rows[rank]
            sign = -sign
        for r in range(rank + 1, len(rows)):
            factor = rows[r][column] / rows[rank][column]
            if factor:
                for c in range(column, len(rows[r])):
                    rows[r][c] -= factor * rows[rank][c]
        rank += 1
        if rank == len(rows):
            break
    return rank, sign


def back_substitute(rows: Rows, size: int) -> None:
    """Turn the left `size` columns of echelon rows into the unit matrix, in place."""
    for r in reversed(range(size)):
        pivot = rows[r][r]
        rows[r][:] = [x / pivot for x in rows[r]]
        for above in range(r):
            factor = rows[above][r]
            if factor:
                rows[above][:] = [x - factor * y for x, y in zip(rows[above], rows[r])]
