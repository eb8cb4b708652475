# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Recurring work and the days on which several of them are due together."""
from __future__ import annotations

from .cycle import Cycle
from .meeting import NeverMeet, meet
from .planner import Planner

__all__ = ["Cycle", "NeverMeet", "Planner", "meet"]
