# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bits."""
from __future__ import annotations


def reflect(value: int, width: int) -> int:
    """The lowest `width` bits of a value in the opposite order."""
    result = 0
    for _ in range(width):
        result = (result << 1) | (value & 1)
        value >>= 1
    return result
