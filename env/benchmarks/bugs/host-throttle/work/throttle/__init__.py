# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Limits how many requests run at the same time, per host."""
from __future__ import annotations

from .permits import Permits
from .throttle import Throttle

__all__ = ["Permits", "Throttle"]
