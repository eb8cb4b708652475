# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Currencies."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Currency:
    """A currency and the number of decimal places of its amounts."""

    code: str
    places: int

    @property
    def unit(self) -> int:
        """How many of the smallest coin make one."""
        return 10**self.places


_KNOWN = {c.code: c for c in (Currency("EUR", 2), Currency("USD", 2), Currency("JPY", 0), Currency("KWD", 3))}


def currency(code: str) -> Currency:
    try:
        return _KNOWN[code.upper()]
    except KeyError:
        raise ValueError(f"unknown currency {code!r}") from None
