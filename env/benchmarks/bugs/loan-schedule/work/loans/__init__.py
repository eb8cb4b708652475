# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Repayment schedules of loans."""
from __future__ import annotations

from .products import Loan, load_products
from .rates import Rate
from .schedule import Line, schedule, total_interest

__all__ = ["Line", "Loan", "Rate", "load_products", "schedule", "total_interest"]
