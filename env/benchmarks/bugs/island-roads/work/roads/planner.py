# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Fastest trips and reach."""
from __future__ import annotations

import heapq
from typing import Dict, List, Optional, Tuple

from roads.network import Network, Road


def _explore(network: Network, start: str, goal: Optional[str] = None) -> Tuple[Dict[str, int], Dict[str, Road]]:
    """Driving times from `start`, and the last road of the fastest way to each place.

    Stops early when `goal` is reached.
    """
    times: Dict[str, int] = {}
    last: Dict[str, Road] = {}
    waiting: List[Tuple[int, str]] = [(0, start)]
    best = {start: 0}
    while waiting:
        minutes, place = heapq.heappop(waiting)
        if place in times:
            continue
        times[place] = minutes
        if place == goal:
            break
        for road in network.leaving(place):
            arrival = minutes + road.minutes
            if arrival < best.get(road.end, arrival + 1):
                best[road.end] = arrival
                last[road.end] = road
                heapq.heappush(waiting, (arrival, road.end))
    return times, last


def trip(network: Network, start: str, goal: str) -> Optional[Tuple[int, List[str]]]:
    """Minutes and road names of the fastest trip, None if there is no way."""
    times, last = _explore(network, start, goal)
    if goal not in times:
        return None
    names: List[str] = []
    place = goal
    while place != start:
        road = last[place]
        names.append(road.name)
        place = road.start
    return times[goal], names[::-1]


def within(network: Network, start: str, minutes: int) -> List[str]:
    """Places that can be reached in that time, nearest first, equals by name."""
    times, _ = _explore(network, start)
    return [p for t, p in sorted((t, p) for p, t in times.items()) if t <= minutes]


def cut_off(network: Network, start: str) -> List[str]:
    """Places that cannot be reached at all, sorted."""
    times, _ = _explore(network, start)
    return [place for place in network.places() if place not in times]


def critical_roads(network: Network, start: str) -> List[str]:
    """Open roads without which some place now within reach would be cut off, sorted.

    The network is left as it was.
    """
    reachable = _explore(network, start)[0]
    names = sorted({road.name for place in reachable for road in network.leaving(place)})
    found = []
    for name in names:
        network.close(name)
        if len(_explore(network, start)[0]) < len(reachable):
            found.append(name)
        network.open(name)
    return found
