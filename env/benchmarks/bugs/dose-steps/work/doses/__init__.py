# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Titration plans: slowly rising doses."""
from __future__ import annotations

from .plan import Plan, make_plan
from .steps import steps

__all__ = ["Plan", "make_plan", "steps"]
