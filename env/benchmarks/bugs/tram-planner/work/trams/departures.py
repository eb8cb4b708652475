# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The board at a stop."""
from __future__ import annotations

from typing import List, Tuple

from .clock import clock
from .network import Network


def departures(network: Network, stop: str, at: int, most: int = 5) -> List[Tuple[str, str, str]]:
    """The next departures: time, line, and where the trip ends. Raises UnknownStop."""
    network.require(stop)
    found = []
    for trip in network.trips.values():
        for name, time in trip.stops[:-1]:
            if name == stop and time >= at:
                found.append((time, trip.line, trip.stops[-1][0]))
    return [(clock(time), line, end) for time, line, end in sorted(found)[:most]]
