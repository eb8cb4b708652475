# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reports."""
from __future__ import annotations

from bisect import insort
from typing import Dict, Iterable, List

from .ranks import quantile


class Report:
    """Latencies in milliseconds by route."""

    def __init__(self, percents: Iterable[float] = (50, 90, 99)) -> None:
        self._percents = list(percents)
        self._numbers: Dict[str, List[float]] = {}

    def record(self, route: str, milliseconds: float) -> None:
        insort(self._numbers.setdefault(route, []), milliseconds)

    def row(self, route: str) -> str:
        """The quantiles of a route in one line."""
        numbers = self._numbers[route]
        cells = [f"p{percent:g}={quantile(numbers, percent):.1f}" for percent in self._percents]
        return f"{route} n={len(numbers)} " + " ".join(cells)

    def rows(self) -> List[str]:
        """All the routes, the one with the slowest first percentile asked for first."""
        first = self._percents[0]
        ranked = sorted(self._numbers, key=lambda r: (-quantile(self._numbers[r], first), r))
        return [self.row(route) for route in ranked]
