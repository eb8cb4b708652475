# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Maps of trails."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterator, List


@dataclass(frozen=True)
class Trail:
    """A trail from one place to another; length in metres, climb and descent in metres of height."""

    start: str
    end: str
    length: int
    climb: int = 0
    descent: int = 0

    def reversed(self) -> "Trail":
        return Trail(self.end, self.start, self.length, self.descent, self.climb)


class TrailMap:
    """All trails, usable both ways."""

    def __init__(self) -> None:
        self._from: Dict[str, List[Trail]] = {}

    @classmethod
    def from_text(cls, text: str) -> "TrailMap":
        """Lines of `start end length climb descent`."""
        trails = cls()
        for line in text.splitlines():
            if line.strip():
                start, end, *numbers = line.split()
                trails.add(Trail(start, end, *map(int, numbers)))
        return trails

    def add(self, trail: Trail) -> None:
        self._from.setdefault(trail.start, []).append(trail)
        self._from.setdefault(trail.end, []).append(trail.reversed())

    def trails_from(self, place: str) -> Iterator[Trail]:
        """The trails that begin at a place, in the order they were added; KeyError if there is no such place."""
        return iter(self._from[place])
