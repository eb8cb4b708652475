# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Squares such as e4."""
from __future__ import annotations

from typing import List, Tuple

FILES = "abcdefgh"


def split(square: str) -> Tuple[int, int]:
    """File and rank of a square, both from 0."""
    if len(square) != 2 or square[0] not in FILES or square[1] not in "12345678":
        raise ValueError(f"no square: {square}")
    return FILES.index(square[0]), int(square[1]) - 1


def between(first: str, second: str) -> List[str]:
    """The squares strictly between two squares of one rank or one file."""
    (x1, y1), (x2, y2) = split(first), split(second)
    count = max(abs(x2 - x1), abs(y2 - y1))
    dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
    return [f"{FILES[x1 + dx * i]}{y1 + dy * i + 1}" for i in range(1, count)]


def is_straight(first: str, second: str) -> bool:
    """Whether the squares share a rank or a file and are not the same."""
    (x1, y1), (x2, y2) = split(first), split(second)
    return (x1 == x2) != (y1 == y2)


def is_adjacent(first: str, second: str) -> bool:
    """Whether a king steps from one to the other."""
    (x1, y1), (x2, y2) = split(first), split(second)
    return max(abs(x2 - x1), abs(y2 - y1)) == 1
