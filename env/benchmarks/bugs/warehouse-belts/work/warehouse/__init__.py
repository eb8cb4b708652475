# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Carts on a floor with conveyor belts."""
from __future__ import annotations

from .belts import Trapped, ride
from .floor import BadPlan, Floor
from .planner import reachable, route

__all__ = ["BadPlan", "Floor", "Trapped", "reachable", "ride", "route"]
