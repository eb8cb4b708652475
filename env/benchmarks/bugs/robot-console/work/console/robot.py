# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The robot."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Tuple

HEADINGS = [(0, 1), (1, 0), (0, -1), (-1, 0)]


@dataclass
class Robot:
    """Place and heading (0 is north, clockwise) on a grid; `trail` holds the places left."""

    place: Tuple[int, int] = (0, 0)
    heading: int = 0
    trail: List[Tuple[int, int]] = field(default_factory=list)

    def forward(self, steps: int) -> None:
        for _ in range(steps):
            self.trail.append(self.place)
            dx, dy = HEADINGS[self.heading]
            self.place = (self.place[0] + dx, self.place[1] + dy)

    def turn(self, quarters: int) -> None:
        self.heading = (self.heading + quarters) % 4

    def home(self) -> None:
        """Back to the start, facing north, trail forgotten."""
        self.place, self.heading = (0, 0), 0
        self.trail.clear()
