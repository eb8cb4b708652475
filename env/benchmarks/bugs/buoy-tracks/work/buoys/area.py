# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Areas between two longitudes and two latitudes."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from .angles import normal
from .unroll import unrolled


@dataclass(frozen=True)
class Area:
    """From `west` eastwards over `width` degrees, and from `south` to `north`."""

    west: float
    width: float
    south: float
    north: float

    @classmethod
    def around(cls, points: List[Tuple[float, float]]) -> "Area":
        """The area a path of (longitude, latitude) covers."""
        east = unrolled(point[0] for point in points)
        north = [point[1] for point in points]
        width = min(max(east) - min(east), 360.0)
        return cls(normal(min(east)), width, min(north), max(north))

    def __contains__(self, point: Tuple[float, float]) -> bool:
        longitude, latitude = point
        inside = (longitude - self.west) % 360.0 <= self.width
        return inside and self.south <= latitude <= self.north
