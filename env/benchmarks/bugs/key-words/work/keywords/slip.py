# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Slips of paper: four words a line, with the size of the key above."""
from __future__ import annotations

from typing import NamedTuple

from .codec import BadWords, decode, encode


class Slip(NamedTuple):
    size: int
    key: bytes


def write_slip(key: bytes) -> str:
    """Raises BadWords."""
    words = encode(key)
    lines = [" ".join(words[at : at + 4]) for at in range(0, len(words), 4)]
    return "\n".join([f"{len(key)} bytes", *lines]) + "\n"


def read_slip(text: str) -> Slip:
    """Raises BadWords."""
    head, _, rest = text.strip().partition("\n")
    number, _, unit = head.partition(" ")
    if unit != "bytes" or not number.isdigit():
        raise BadWords(f"{head!r} tells no size")
    return Slip(int(number), decode(rest.lower().split(), int(number)))
