# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Unrolling: longitudes without jumps."""
from __future__ import annotations

from typing import Iterable, List

from .angles import turn


def unrolled(longitudes: Iterable[float]) -> List[float]:
    """The longitudes, each moved by full circles so that it is as near as can be to the one before it.

    The first stays as it is; the others may lie outside of -180 to 180.
    """
    result: List[float] = []
    before = 0.0
    for longitude in longitudes:
        result.append(before + turn(before, longitude) if result else longitude)
        before = longitude
    return result
