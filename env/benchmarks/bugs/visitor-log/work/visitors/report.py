# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reports."""
from __future__ import annotations

from typing import Iterable, List

from .entries import read
from .grouping import by_day
from .totals import Totals, totals


def day_report(lines: Iterable[str], day: str) -> Totals:
    """The totals of one day."""
    return totals(entry for entry in read(lines) if entry.day == day)


def month_report(lines: Iterable[str], month: str) -> List[str]:
    """One line per day of the month that is in the log, and a last line with the best day."""
    days = [(day, entries) for day, entries in by_day(read(lines)) if day.startswith(month)]
    sums = [(day, totals(entries)) for day, entries in days]
    result = [f"{day} {sum_.visitors:4d} {sum_.cents / 100:8.2f}" for day, sum_ in sums]
    if sums:
        best = max(sums, key=lambda item: item[1].visitors)
        result.append(f"best: {best[0]}, most at {best[1].busiest}h")
    return result
