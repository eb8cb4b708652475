# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Summaries."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Iterable

from .moments import Moments


@dataclass(frozen=True)
class Summary:
    """What is kept of some measurements."""

    moments: Moments = Moments()
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, numbers: Iterable[float]) -> "Summary":
        """The summary of some numbers."""
        summary = cls()
        for number in numbers:
            summary = cls(summary.moments.add(number), min(summary.low, number), max(summary.high, number))
        return summary

    def __add__(self, other: "Summary") -> "Summary":
        """The summary of the numbers of both."""
        return Summary(self.moments.merge(other.moments), min(self.low, other.low), max(self.high, other.high))

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.moments.variance)

    def line(self) -> str:
        m = self.moments
        return f"n={m.count} mean={m.mean:.3f} spread={self.spread:.3f} range={self.low:g}..{self.high:g}"
