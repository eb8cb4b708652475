# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Whether there is enough."""
from __future__ import annotations

from decimal import Decimal
from typing import Dict

from .baths import Bath
from .stock import STOCK


def missing(made: Bath) -> Dict[str, Decimal]:
    """What has to be bought for a bath, in grams."""
    found = {}
    for part, grams in made.grams.items():
        there = Decimal(str(STOCK.get(part, 0)))
        if part != "water" and grams > there:
            found[part] = grams - there
    return found
