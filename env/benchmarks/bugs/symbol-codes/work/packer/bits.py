# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bits in bytes."""
from __future__ import annotations


def to_bytes(digits: str) -> bytes:
    """Zeros and ones as bytes, filled up with zeros at the end."""
    filled = digits + "0" * (-len(digits) % 8)
    return bytes(int(filled[i : i + 8], 2) for i in range(0, len(filled), 8))


def to_digits(data: bytes, count: int) -> str:
    """The first `count` zeros and ones of some bytes."""
    return "".join(f"{byte:08b}" for byte in data)[:count]
