# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Due dates of rents."""
from __future__ import annotations

from .months import add_months, last_day
from .tenancy import Tenancy
from .view import print_calendar

__all__ = ["Tenancy", "add_months", "last_day", "print_calendar"]
