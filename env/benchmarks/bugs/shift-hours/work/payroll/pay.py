# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""From shifts to money."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from .cards import Shift


@dataclass(frozen=True)
class Tariff:
    """Cents per hour, and the surcharge in percent for the minutes of a shift beyond the regular ones."""

    hourly: int
    regular_minutes: int = 480
    overtime_percent: int = 25

    def cents(self, minutes: int) -> int:
        """The pay for one shift of so many minutes, rounded down to cents."""
        overtime = max(0, minutes - self.regular_minutes)
        return (minutes * 100 + overtime * self.overtime_percent) * self.hourly // 6000


def pay(shifts: Iterable[Shift], tariff: Tariff) -> dict[str, int]:
    """The cents each worker gets."""
    totals: dict[str, int] = {}
    for shift in shifts:
        totals[shift.worker] = totals.get(shift.worker, 0) + tariff.cents(shift.minutes)
    return totals
