# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Addresses as texts and as numbers."""
from __future__ import annotations


class BadAddress(ValueError):
    """It is no address of four bytes."""


def as_number(text: str) -> int:
    """The address as a number of 32 bits. Raises BadAddress."""
    parts = text.strip().split(".")
    if len(parts) != 4 or not all(part.isdigit() and len(part) <= 3 and int(part) < 256 for part in parts):
        raise BadAddress(f"{text!r} is no address")
    number = 0
    for part in parts:
        number = number << 8 | int(part)
    return number


def as_text(number: int) -> str:
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
