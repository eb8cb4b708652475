# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Hikes."""
from __future__ import annotations

from typing import List, NamedTuple, Optional

from trails.map import TrailMap
from trails.pace import Pace
from trails.planner import costs_from, way_back


class Hike(NamedTuple):
    """The places passed and the minutes it takes."""

    places: List[str]
    minutes: int


def plan(trails: TrailMap, stops: List[str], pace: Optional[Pace] = None) -> Optional[Hike]:
    """The quickest hike over all stops in their order, None if there is no way."""
    pace = pace or Pace()
    places, minutes = [stops[0]], 0
    for start, end in zip(stops, stops[1:]):
        best = costs_from(trails, start, pace.minutes)
        if end not in best:
            return None
        minutes += best[end][0]
        places += [trail.end for trail in way_back(best, end)]
    return Hike(places, minutes)


def within(trails: TrailMap, start: str, minutes: int, pace: Optional[Pace] = None) -> List[str]:
    """The places that can be reached in that time, nearest first, without the start."""
    best = costs_from(trails, start, (pace or Pace()).minutes)
    reached = sorted((spent, place) for place, (spent, _) in best.items() if spent <= minutes and place != start)
    return [place for _, place in reached]
