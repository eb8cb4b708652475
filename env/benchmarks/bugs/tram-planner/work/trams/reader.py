# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads a timetable."""
from __future__ import annotations

from typing import List, NamedTuple, Tuple

from .clock import minutes


class BadTimetable(ValueError):
    """A line that cannot be understood."""


class Trip(NamedTuple):
    number: str
    line: str
    stops: Tuple[Tuple[str, int], ...]
    """Name and time of each stop, in the order of the trip."""


def read(text: str) -> List[Trip]:
    """The trips of a timetable. Raises BadTimetable."""
    trips: List[Trip] = []
    stops: List[Tuple[str, int]] = []
    head: List[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        words = line.split()
        if len(words) != 2:
            raise BadTimetable(f"line {number}: {line!r}")
        if line.startswith(" "):
            try:
                stops.append((words[1], minutes(words[0])))
            except ValueError as error:
                raise BadTimetable(f"line {number}: {error}") from None
            continue
        if head:
            trips.append(Trip(head[0], head[1], tuple(stops)))
        head, stops = words, []
    if head:
        trips.append(Trip(head[0], head[1], tuple(stops)))
    return trips
