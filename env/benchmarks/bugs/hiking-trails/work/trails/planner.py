# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Find quick ways."""
from __future__ import annotations

import heapq
from typing import Callable, Dict, List, Optional, Tuple

from trails.map import Trail, TrailMap

Cost = Callable[[Trail], int]


def costs_from(trails: TrailMap, start: str, cost: Cost) -> Dict[str, Tuple[int, Optional[Trail]]]:
    """For each place that can be reached the least cost and the trail to come by."""
    best: Dict[str, Tuple[int, Optional[Trail]]] = {start: (0, None)}
    done = {start}
    queue = [(0, start)]
    while queue:
        spent, place = heapq.heappop(queue)
        for trail in trails.trails_from(place):
            if trail.end in done:
                continue
            done.add(trail.end)
            total = spent + cost(trail)
            best[trail.end] = (total, trail)
            heapq.heappush(queue, (total, trail.end))
    return best


def way_back(best: Dict[str, Tuple[int, Optional[Trail]]], end: str) -> List[Trail]:
    """The trails to a place, in the order they are walked."""
    way: List[Trail] = []
    trail = best[end][1]
    while trail is not None:
        way.append(trail)
        trail = best[trail.start][1]
    return way[::-1]
