# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What is recorded."""
from __future__ import annotations

from typing import Dict, NamedTuple, Tuple


class Sample(NamedTuple):
    """Measurements of one second."""

    second: int
    altitude: int
    speed: int


LIMITS: Dict[str, Tuple[int, int]] = {"altitude": (0, 12000), "speed": (120, 900)}


def broken_limits(sample: Sample) -> Tuple[str, ...]:
    """The names of the measurements outside their limits."""
    names = []
    for name, (low, high) in LIMITS.items():
        if not low <= getattr(sample, name) <= high:
            names.append(name)
    return tuple(names)
