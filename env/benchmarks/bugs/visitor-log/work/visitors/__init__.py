# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Visitor statistics of a museum."""
from __future__ import annotations

from .report import day_report, month_report

__all__ = ["day_report", "month_report"]
