# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How long trails take."""
from __future__ import annotations

from dataclasses import dataclass

from trails.map import Trail


@dataclass(frozen=True)
class Pace:
    """Metres walked, climbed and descended in an hour."""

    walk: int = 4000
    climb: int = 300
    descent: int = 500

    def minutes(self, trail: Trail) -> int:
        """The time on the flat and the time for the heights, the larger in full and half of the smaller; rounded up."""
        flat = trail.length * 60 / self.walk
        heights = trail.climb * 60 / self.climb + trail.descent * 60 / self.descent
        total = max(flat, heights) + min(flat, heights) / 2
        return int(total) + (total > int(total))
