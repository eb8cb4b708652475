# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Counting in months."""
from __future__ import annotations

import calendar
from datetime import date


def last_day(year: int, month: int) -> int:
    """The number of the last day of a month."""
    return calendar.monthrange(year, month)[1]


def add_months(day: date, months: int) -> date:
    """The same day so many months later (earlier if negative), or the last of the month if it has no such day."""
    years, index = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, index + 1
    return day.replace(year=year, month=month)
