# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tracks."""
from __future__ import annotations

from typing import List, Tuple

from .angles import normal, turn
from .area import Area
from .unroll import unrolled

Point = Tuple[float, float]


class Track:
    """The positions of a buoy in the order of time, as (longitude, latitude)."""

    def __init__(self, points: List[Point]) -> None:
        if not points:
            raise ValueError("a track has a point at least")
        self.points = [(normal(longitude), latitude) for longitude, latitude in points]

    def area(self) -> Area:
        """The area the track covers."""
        return Area.around(self.points)

    def middle(self) -> Point:
        """The mean position, rounded to four places."""
        east = unrolled(point[0] for point in self.points)
        count = len(self.points)
        return round(normal(sum(east) / count), 4), round(sum(p[1] for p in self.points) / count, 4)

    def drift(self) -> float:
        """The degrees of longitude from the first to the last point along the track; east is positive."""
        east = unrolled(point[0] for point in self.points)
        return round(east[-1] - east[0], 4)

    def legs(self) -> List[float]:
        """The degrees of longitude from each point to the next."""
        longitudes = [point[0] for point in self.points]
        return [round(turn(a, b), 4) for a, b in zip(longitudes, longitudes[1:])]
