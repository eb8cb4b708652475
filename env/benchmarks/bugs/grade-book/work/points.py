# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Points and letters."""
from __future__ import annotations

from fractions import Fraction
from typing import Sequence, Tuple

_LETTERS = ((90, "A"), (80, "B"), (70, "C"), (60, "D"))


def average(points: Sequence[Tuple[int, int]]) -> Fraction:
    """The exact average of (points, weight)."""
    return Fraction(sum(p * w for p, w in points), sum(w for _, w in points))


def whole(points: Fraction) -> int:
    """The nearest whole number; a half counts upwards."""
    return round(points)


def letter(points: int) -> str:
    """The letter for whole points."""
    return next((name for least, name in _LETTERS if points >= least), "F")
