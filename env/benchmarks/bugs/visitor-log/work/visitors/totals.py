# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Sums over entries."""
from __future__ import annotations

from collections import Counter
from typing import Dict, Iterable, NamedTuple, Optional

from .entries import Entry

PRICES = {"adult": 900, "child": 400, "member": 0}


class Totals(NamedTuple):
    visitors: int
    cents: int
    busiest: Optional[int]


def totals(entries: Iterable[Entry]) -> Totals:
    """Visitors, takings and the hour with most visitors, the earliest of them if there are several."""
    visitors = cents = 0
    hours: Dict[int, int] = Counter()
    for entry in entries:
        visitors += entry.count
        cents += entry.count * PRICES[entry.kind]
        hours[entry.hour] += entry.count
    busiest = min(hours, key=lambda hour: (-hours[hour], hour)) if hours else None
    return Totals(visitors, cents, busiest)
