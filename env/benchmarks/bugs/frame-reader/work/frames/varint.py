# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Numbers of variable length: seven bits a byte, lowest first, the top bit set on all but the last."""
from __future__ import annotations

from frames.source import Source


def read_varint(source: Source) -> int:
    """Read a number; ValueError if it has more than five bytes."""
    value = 0
    for place in range(5):
        byte = source.byte()
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value
    raise ValueError("number too long")


def write_varint(value: int) -> bytes:
    """The inverse of read_varint."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
