# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Linear equations."""
from __future__ import annotations

from typing import List

_TINY = 1e-12


class NotDetermined(ValueError):
    """The equations have no solution, or many."""


def solve(rows: List[List[float]]) -> List[float]:
    """The solution of as many equations as unknowns, by elimination.

    In each column the row with the largest coefficient, regardless of its sign, comes first.
    """
    rows = [row[:] for row in rows]
    size = len(rows)
    for column in range(size):
        best = max(range(column, size), key=lambda r: rows[r][column])
        if abs(rows[best][column]) < _TINY:
            raise NotDetermined(f"unknown {column}")
        rows[column], rows[best] = rows[best], rows[column]
        for row in rows[column + 1 :]:
            factor = row[column] / rows[column][column]
            for k in range(column, size + 1):
                row[k] -= factor * rows[column][k]
    result = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][k] * result[k] for k in range(i + 1, size))
        result[i] = (rows[i][-1] - known) / rows[i][i]
    return result
