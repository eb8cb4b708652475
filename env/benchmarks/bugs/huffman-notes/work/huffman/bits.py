# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bits in bytes."""
from __future__ import annotations

from typing import Iterator


def to_bytes(bits: str) -> bytes:
    """Bits, highest first, filled up with zeros to whole bytes."""
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def from_bytes(data: bytes) -> Iterator[str]:
    """The bits of all bytes."""
    for byte in data:
        yield from format(byte, "08b")
