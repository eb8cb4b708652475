# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Putting hours together to days."""
from __future__ import annotations

from functools import reduce
from operator import add
from typing import Dict, Iterable, Tuple

from .summary import Summary


class Rollup:
    """Summaries by day and hour."""

    def __init__(self) -> None:
        self._hours: Dict[Tuple[str, int], Summary] = {}

    def record(self, day: str, hour: int, numbers: Iterable[float]) -> None:
        """Add measurements to an hour."""
        key = (day, hour)
        self._hours[key] = self._hours.get(key, Summary()) + Summary.of(numbers)

    def hour(self, day: str, hour: int) -> Summary:
        return self._hours.get((day, hour), Summary())

    def day(self, day: str) -> Summary:
        """The summary of all the hours of a day."""
        return reduce(add, (s for (d, _), s in sorted(self._hours.items()) if d == day), Summary())
