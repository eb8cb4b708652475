# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rain per day."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Iterator, List, Optional, Tuple


@dataclass
class Series:
    """Millimetres of consecutive days from `start`; None is a day without a record."""

    start: date
    values: List[Optional[float]]

    @classmethod
    def parse(cls, text: str) -> "Series":
        """Read `2024-05-01: 0 3.5 - 1.0`."""
        head, _, tail = text.partition(":")
        values = [None if word == "-" else float(word) for word in tail.split()]
        return cls(date.fromisoformat(head.strip()), values)

    @property
    def end(self) -> date:
        """The day after the last one."""
        return self.start + timedelta(days=len(self.values))

    def from_day(self, day: date) -> Iterator[Optional[float]]:
        """The values from a day on; days before the start have no record."""
        shift = (day - self.start).days
        if shift < 0:
            yield from [None] * -shift
            shift = 0
        yield from self.values[shift:]

    def total(self) -> float:
        return sum(value for value in self.values if value is not None)


def aligned(first: Series, second: Series) -> Iterator[Tuple[date, Optional[float], Optional[float]]]:
    """Every day that is in the span of either series, with the values of both."""
    day = min(first.start, second.start)
    for ours, theirs in zip(first.from_day(day), second.from_day(day)):
        yield day, ours, theirs
        day += timedelta(days=1)
