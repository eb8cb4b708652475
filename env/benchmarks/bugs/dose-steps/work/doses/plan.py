# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Plans."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import List, Tuple

from .steps import steps


@dataclass(frozen=True)
class Plan:
    """Doses in millilitres, each taken for `days` days, then the full dose for good."""

    first_day: date
    days: int
    rising: Tuple[float, ...]
    full: float

    def dose(self, day: date) -> float:
        """The dose of a day; 0 before the first."""
        if day < self.first_day:
            return 0.0
        index = (day - self.first_day).days // self.days
        return self.rising[index] if index < len(self.rising) else self.full

    def total(self, until: date) -> float:
        """All the doses before a day, in millilitres with three places."""
        days = (until - self.first_day).days
        return round(sum(self.dose(self.first_day + timedelta(d)) for d in range(days)), 3)

    def lines(self) -> List[str]:
        """The plan as it is printed."""
        rows = []
        for index, dose in enumerate(self.rising):
            rows.append(f"from {self.first_day + timedelta(index * self.days)}: {dose} ml")
        rows.append(f"from {self.first_day + timedelta(len(self.rising) * self.days)}: {self.full} ml, full dose")
        return rows


def make_plan(first_day: date, start: float, full: float, step: float, days: int = 7) -> Plan:
    """A plan that rises (or falls) from `start` in steps, and ends with the full dose."""
    if days < 1:
        raise ValueError("a dose is taken for a day at least")
    return Plan(first_day, days, tuple(steps(start, full, step)), full)
