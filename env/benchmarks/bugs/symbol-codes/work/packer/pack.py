# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Packing and unpacking."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, List

from .bits import to_bytes, to_digits
from .tree import build, codes


@dataclass(frozen=True)
class Packed:
    """A packed text: its codes, the bytes, and how many bits of them count."""

    codes: Dict[str, str]
    data: bytes
    bits: int


def pack(text: str) -> Packed:
    """Pack a text."""
    if not text:
        return Packed({}, b"", 0)
    table = codes(build(text))
    digits = "".join(table[c] for c in text)
    return Packed(table, to_bytes(digits), len(digits))


def unpack(packed: Packed) -> str:
    """The text that was packed."""
    characters = {code: c for c, code in packed.codes.items()}
    result: List[str] = []
    code = ""
    for digit in to_digits(packed.data, packed.bits):
        code += digit
        if code in characters:
            result.append(characters[code])
            code = ""
    if code:
        raise ValueError("the data end inside of a code")
    return "".join(result)
