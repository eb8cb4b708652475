# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A journey in words."""
from __future__ import annotations

from typing import List

from .clock import clock
from .planner import Journey


def describe(journey: Journey) -> List[str]:
    lines = []
    for ride in journey.rides:
        lines.append(f"{clock(ride.departure)} {ride.start}: line {ride.line}")
        lines.append(f"{clock(ride.arrival)} {ride.end}")
    return lines
