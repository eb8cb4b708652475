# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Card numbers."""
from __future__ import annotations

import re

_NUMBER = re.compile(r"[A-Z]{2}[0-9]{6}")


class BadCard(ValueError):
    """Not a card number."""


def canonical(card: str) -> str:
    """The card number as it is kept: "ab 123-456", "AB-123456" and "AB123456" are one card."""
    number = re.sub(r"[\s.-]", "", card).upper()
    if not _NUMBER.fullmatch(number):
        raise BadCard(f"not a card number: {card!r}")
    return number
