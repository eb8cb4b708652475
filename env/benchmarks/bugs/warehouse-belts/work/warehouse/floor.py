# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Floor plans."""
from __future__ import annotations

from typing import Iterator, Tuple

Place = Tuple[int, int]

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
ARROWS = {"^": "N", ">": "E", "v": "S", "<": "W"}


class BadPlan(ValueError):
    """The text is no floor plan."""


class Floor:
    """A floor: `#` walls, `.` free places, `^>v<` belts, `A` the start and `B` the goal (both free)."""

    def __init__(self, text: str) -> None:
        self._rows = [row.strip() for row in text.strip().split("\n")]
        if len({len(row) for row in self._rows}) != 1:
            raise BadPlan("the rows differ in length")
        self.start = self._find("A")
        self.goal = self._find("B")

    def _find(self, mark: str) -> Place:
        places = [(r, row.index(mark)) for r, row in enumerate(self._rows) if mark in row]
        if len(places) != 1:
            raise BadPlan(f"{mark} is needed once")
        return places[0]

    def places(self) -> Iterator[Place]:
        """All the places that are not walls."""
        for r, row in enumerate(self._rows):
            for c, mark in enumerate(row):
                if mark != "#":
                    yield r, c

    def is_open(self, place: Place) -> bool:
        """Whether a cart can be there."""
        r, c = place
        return 0 <= r < len(self._rows) and 0 <= c < len(self._rows[0]) and self._rows[r][c] != "#"

    def belt(self, place: Place) -> str | None:
        """The direction of the belt at a place, or None if there is none."""
        return ARROWS.get(self._rows[place[0]][place[1]])

    def neighbour(self, place: Place, direction: str) -> Place:
        step = STEPS[direction]
        return place[0] + step[0], place[1] + step[1]
