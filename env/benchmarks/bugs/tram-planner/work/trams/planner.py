# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The planner: looks once at all connections, in the order of their departures."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional, Set, Tuple

from .network import Connection, Network

CHANGE = 2
"""Minutes that a change of trams takes."""


class Ride(NamedTuple):
    """A part of a journey, in one tram."""

    line: str
    trip: str
    start: str
    departure: int
    end: str
    arrival: int


class Journey(NamedTuple):
    rides: Tuple[Ride, ...]

    @property
    def arrival(self) -> int:
        return self.rides[-1].arrival

    @property
    def changes(self) -> int:
        return len(self.rides) - 1


def plan(network: Network, start: str, end: str, at: int) -> Optional[Journey]:
    """The journey that arrives first, or None where there is none any more. Raises UnknownStop."""
    network.require(start)
    network.require(end)
    earliest: Dict[str, int] = {start: at - CHANGE}
    boarded: Dict[str, Connection] = {}
    reached: Dict[str, Tuple[Connection, Connection]] = {}
    for connection in network.connections:
        if connection.departure < at:
            continue
        if connection.trip not in boarded:
            there = earliest.get(connection.start)
            if there is None or there + CHANGE > connection.departure:
                continue
            boarded[connection.trip] = connection
        if connection.arrival < earliest.get(connection.end, 10**9):
            earliest[connection.end] = connection.arrival
            reached[connection.end] = boarded[connection.trip], connection
    return _journey(reached, start, end)


def _journey(reached: Dict[str, Tuple[Connection, Connection]], start: str, end: str) -> Optional[Journey]:
    rides: List[Ride] = []
    seen: Set[str] = set()
    stop = end
    while stop != start:
        if stop not in reached or stop in seen:
            return None
        seen.add(stop)
        first, last = reached[stop]
        rides.append(Ride(first.line, first.trip, first.start, first.departure, last.end, last.arrival))
        stop = first.start
    return Journey(tuple(reversed(rides))) if rides else None
