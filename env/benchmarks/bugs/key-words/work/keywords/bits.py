# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bytes as groups of bits, and back."""
from __future__ import annotations

from typing import Iterable, Iterator

WIDTH = 9


def groups(content: bytes) -> Iterator[int]:
    """The bits in groups of nine; the last one is filled up with zeros."""
    held, count = 0, 0
    for byte in content:
        held, count = held << 8 | byte, count + 8
        while count >= WIDTH:
            count -= WIDTH
            yield held >> count
            held &= (1 << count) - 1
    if count:
        yield held << WIDTH - count


def joined(numbers: Iterable[int]) -> bytes:
    """The bytes of such groups. What is left over at the end is dropped."""
    held, count, found = 0, 0, bytearray()
    for number in numbers:
        held, count = held << WIDTH | number, count + WIDTH
        while count >= 8:
            count -= 8
            found.append(held >> count)
            held &= (1 << count) - 1
    return bytes(found)
