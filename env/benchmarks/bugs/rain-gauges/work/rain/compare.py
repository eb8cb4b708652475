# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Comparing two gauges."""
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import List, Optional

from .series import Series, aligned


@dataclass
class Comparison:
    """What a comparison found."""

    days: int = 0
    missed: List[date] = field(default_factory=list)
    extra: List[date] = field(default_factory=list)
    worst: Optional[date] = None
    difference: float = 0.0

    def summary(self) -> str:
        if not self.missed:
            return f"{self.days} days compared, no rain missed"
        return f"{self.days} days compared, {len(self.missed)} rainy days missed from {self.missed[0]}"


def compare(ours: Series, theirs: Series, rainy: float = 1.0) -> Comparison:
    """Compare the gauges day by day.

    `missed` are the days with at least `rainy` millimetres in our gauge and no record in theirs, `extra` the reverse.
    Days recorded by both are `days`; `worst` is the one with the largest difference.
    """
    result = Comparison()
    for day, own, other in aligned(ours, theirs):
        if own is not None and other is not None:
            result.days += 1
            if result.worst is None or abs(own - other) > result.difference:
                result.worst, result.difference = day, abs(own - other)
        elif own is not None and own >= rainy:
            result.missed.append(day)
        elif other is not None and other >= rainy:
            result.extra.append(day)
    return result
