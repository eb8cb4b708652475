# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Counting values in bins."""
from __future__ import annotations

from typing import Iterable, Iterator, List, Optional, Tuple


class Histogram:
    """Counts in bins of equal width.

    Bin number n holds the values v with n * width <= v < (n + 1) * width.
    The covered range grows as needed in both directions; bins inside it that
    no value hit have count 0.
    """

    def __init__(self, width: int) -> None:
        if width <= 0:
            raise ValueError("width must be positive")
        self.width = width
        self._first = 0
        self._counts: List[int] = []

    def add(self, value: float, weight: int = 1) -> None:
        """Count `value`, `weight` times."""
        self._bump(int(value // self.width), weight)

    def update(self, values: Iterable[float]) -> None:
        """Count each of the values once."""
        for value in values:
            self.add(value)

    def merge(self, other: Histogram) -> None:
        """Add the counts of another histogram of the same width."""
        if other.width != self.width:
            raise ValueError("widths differ")
        for number, count in list(other._numbered()):
            self._bump(number, count)

    def _bump(self, number: int, weight: int) -> None:
        if not self._counts:
            self._first = number
        if below := self._first - number > 0:
            self._counts[:0] = [0] * below
            self._first = number
        if (above := number - self._first - len(self._counts) + 1) > 0:
            self._counts.extend([0] * above)
        self._counts[number - self._first] += weight

    def _numbered(self) -> Iterator[Tuple[int, int]]:
        return enumerate(self._counts, self._first)

    def bins(self) -> List[Tuple[int, int]]:
        """(lower edge, count) of every bin in the covered range."""
        return [(number * self.width, count) for number, count in self._numbered()]

    @property
    def total(self) -> int:
        """How many values were counted."""
        return sum(self._counts)

    def mode(self) -> Optional[int]:
        """Lower edge of the fullest bin (the lowest of equals), None if empty."""
        if not self._counts:
            return None
        return (self._first + self._counts.index(max(self._counts))) * self.width

    def count_below(self, edge: int) -> int:
        """How many values lie in bins that end at or before `edge`."""
        return sum(c for low, c in self.bins() if low + self.width <= edge)
