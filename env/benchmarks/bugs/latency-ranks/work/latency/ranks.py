# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Quantiles."""
from __future__ import annotations

from typing import Sequence


def quantile(ordered: Sequence[float], percent: float) -> float:
    """The quantile of numbers in ascending order.

    0 percent is the first number, 100 percent the last, and the others are evenly spaced between; what
    falls between two numbers is interpolated in a straight line.
    """
    if not ordered:
        raise ValueError("no numbers")
    if not 0 <= percent <= 100:
        raise ValueError(f"{percent} is not from 0 to 100")
    place = len(ordered) * percent / 100
    below = int(place)
    part = place - below
    if part == 0:
        return ordered[below]
    return ordered[below] + (ordered[below + 1] - ordered[below]) * part
