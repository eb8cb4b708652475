# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The network: what goes from where to where, and when."""
from __future__ import annotations

from typing import Dict, Iterable, List, NamedTuple, Optional, Set

from .reader import Trip, read
from .timetable import TIMETABLE


class UnknownStop(KeyError):
    """No trip stops there."""


class Connection(NamedTuple):
    """A trip from one stop to its next one. Sorted, they are in the order of their departures."""

    departure: int
    arrival: int
    start: str
    end: str
    trip: str
    line: str


class Network:
    def __init__(self, trips: Optional[Iterable[Trip]] = None) -> None:
        self.trips: Dict[str, Trip] = {trip.number: trip for trip in (read(TIMETABLE) if trips is None else trips)}
        self.connections: List[Connection] = sorted(
            Connection(time, next_time, stop, next_stop, trip.number, trip.line)
            for trip in self.trips.values()
            for (stop, time), (next_stop, next_time) in zip(trip.stops, trip.stops[1:])
        )
        self.stops: Set[str] = {stop for trip in self.trips.values() for stop, _ in trip.stops}

    def require(self, stop: str) -> None:
        """Raises UnknownStop."""
        if stop not in self.stops:
            raise UnknownStop(stop)

    def lines_at(self, stop: str) -> List[str]:
        self.require(stop)
        return sorted({trip.line for trip in self.trips.values() if any(name == stop for name, _ in trip.stops)})
