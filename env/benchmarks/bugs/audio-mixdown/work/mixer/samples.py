# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Samples: whole numbers from -32768 to 32767."""
from __future__ import annotations

from typing import List

LOW, HIGH = -32768, 32767
UNIT = 256

Samples = List[int]


def clip(number: int) -> int:
    """The nearest number that is a sample."""
    return max(LOW, min(HIGH, number))


def scaled(number: int, level: int, unit: int = UNIT) -> int:
    """The number times level / unit, without what is behind the point: results move towards zero."""
    return number * level // unit
