# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Amounts as exact fractions."""
from __future__ import annotations

from fractions import Fraction
from typing import Optional, Tuple

UNITS = ("g", "kg", "ml", "l", "tsp", "tbsp", "cup")


def parse_amount(words: str) -> Tuple[Optional[Fraction], str, str]:
    """Split `1 1/2 cup flour` into (3/2, "cup", "flour").

    Without a leading number the amount is None: `salt` gives (None, "", "salt").
    The unit may be missing: `3 eggs` gives (3, "", "eggs").
    """
    parts = words.split()
    amount: Optional[Fraction] = None
    while parts and parts[0][0].isdigit():
        amount = (amount or Fraction(0)) + Fraction(parts.pop(0))
    unit = parts.pop(0) if amount is not None and len(parts) > 1 and parts[0] in UNITS else ""
    return amount, unit, " ".join(parts)


def format_amount(amount: Fraction) -> str:
    """Write 3/2 as `1 1/2`, 2 as `2`, 1/3 as `1/3`."""
    whole, rest = divmod(amount, 1)
    if not rest:
        return str(whole)
    return "%d %s" % (whole, rest) if whole else str(rest)
