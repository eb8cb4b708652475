# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mirrors one folder into another, all or nothing."""
from __future__ import annotations

from .journal import Journal
from .plan import Action, make_plan
from .sync import Report, synchronise

__all__ = ["Action", "Journal", "Report", "make_plan", "synchronise"]
