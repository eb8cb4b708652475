# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The bill on paper."""
from __future__ import annotations

from typing import List

from .countries import COUNTRIES
from .totals import Bill


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def lines(made: Bill, most: int = 5) -> List[str]:
    """The dearest countries, and the total."""
    dearest = sorted(made.countries.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    found = [f"{COUNTRIES[letters].name:<20}{money(cost):>10}" for letters, cost in dearest]
    return [*found, f"{'Total':<20}{money(made.total):>10}"]
