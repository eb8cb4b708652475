# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Currencies."""
from __future__ import annotations

from typing import Dict

PLACES: Dict[str, int] = {"EUR": 2, "USD": 2, "GBP": 2, "JPY": 0, "KWD": 3, "CHF": 2}


def places(code: str) -> int:
    """How many places amounts of the currency have; KeyError if the currency is not known."""
    return PLACES[code.upper()]
