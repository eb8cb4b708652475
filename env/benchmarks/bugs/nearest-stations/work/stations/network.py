# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The network of a town."""
from __future__ import annotations

from typing import Iterable, List, Optional

from .best import Best
from .point import Place, Station
from .queries import around, nearest
from .tree import build


class Network:
    """All the stations."""

    def __init__(self, stations: Iterable[Station]) -> None:
        self._root = build(list(stations))

    def nearest(self, place: Place, count: int = 1, bikes: int = 0) -> List[str]:
        """The names of the nearest stations with so many bikes, the nearest first, then by name."""
        best = Best(count)
        nearest(self._root, place, best, bikes)
        return [station.name for station in best.stations()]

    def around(self, place: Place, radius: float) -> List[str]:
        """The names of the stations within a radius, by name."""
        return sorted(station.name for station in around(self._root, place, radius))

    def one(self, place: Place) -> Optional[str]:
        """The nearest station with a bike."""
        return next(iter(self.nearest(place, 1, 1)), None)
