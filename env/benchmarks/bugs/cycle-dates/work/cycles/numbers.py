# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Number theory."""
from __future__ import annotations

from typing import Tuple


def bezout(a: int, b: int) -> Tuple[int, int, int]:
    """The greatest common divisor g of two positive numbers, and x and y with a * x + b * y == g."""
    x, y, next_x, next_y = 1, 0, 0, 1
    while b:
        quotient, rest = divmod(a, b)
        a, b = b, rest
        x, next_x = next_x, x - quotient * next_x
        y, next_y = next_y, y - quotient * next_y
    return a, x, y
