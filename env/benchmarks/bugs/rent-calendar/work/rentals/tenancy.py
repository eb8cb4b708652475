# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tenancies."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Iterator

from .months import add_months


@dataclass(frozen=True)
class Tenancy:
    """A flat let from a day on, with the rent due every so many months on the same day of the month."""

    tenant: str
    start: date
    rent_cents: int
    every_months: int = 1
    end: date | None = None

    def __post_init__(self) -> None:
        if self.every_months < 1:
            raise ValueError("rent is due once a month at most")
        if self.end is not None and self.end < self.start:
            raise ValueError("the tenancy ends before it starts")

    def due_dates(self, until: date) -> Iterator[date]:
        """The days the rent is due, from the start to `until` or the end of the tenancy, both included.

        A month without the day of the start has its due date on its last day; later months are not affected.
        """
        last = until if self.end is None else min(until, self.end)
        count = 0
        while True:
            due = add_months(self.start, count * self.every_months)
            if due > last:
                return
            yield due
            count += 1

    def next_due(self, today: date) -> date | None:
        """The first due date that is not before today, or None if the tenancy is over by then."""
        horizon = add_months(max(today, self.start), self.every_months + 1)
        for due in self.due_dates(horizon):
            if due >= today:
                return due
        return None

    def owed(self, until: date) -> int:
        """The cents due from the start to `until`."""
        return self.rent_cents * sum(1 for _ in self.due_dates(until))
