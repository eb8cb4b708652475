# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Printing."""
from __future__ import annotations

from datetime import date
from typing import Iterable

from .tenancy import Tenancy


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def print_calendar(tenancies: Iterable[Tenancy], start: date, until: date) -> str:
    """All the due dates from `start` to `until`, a line each, by date and tenant."""
    lines = []
    for tenancy in tenancies:
        for due in tenancy.due_dates(until):
            if due >= start:
                lines.append((due, tenancy.tenant, money(tenancy.rent_cents)))
    return "\n".join(f"{due.isoformat()}  {tenant}  {rent}" for due, tenant, rent in sorted(lines))
