# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The best few of many."""
from __future__ import annotations

import heapq
import math
from typing import List, Tuple

from .point import Station


class Best:
    """Keeps the `count` nearest of the stations offered; of equally far ones those first by name."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._found: List[Tuple[float, str, Station]] = []

    def offer(self, distance: float, station: Station) -> None:
        self._found = heapq.nsmallest(self._count, self._found + [(distance, station.name, station)])

    @property
    def limit(self) -> float:
        """The distance beyond which offers are in vain."""
        return self._found[-1][0] if self._found else math.inf

    def stations(self) -> List[Station]:
        """The stations kept, the nearest first."""
        return [station for _, _, station in self._found]
