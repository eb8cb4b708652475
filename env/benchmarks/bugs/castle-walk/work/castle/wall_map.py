# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The map on the wall: what a player has seen on the way."""
from __future__ import annotations

from typing import Dict, List, Tuple

_STEPS = {"north": (0, -1), "south": (0, 1), "east": (1, 0), "west": (-1, 0)}


class WallMap:
    """Rooms by their places, the gate in the middle."""

    def __init__(self, gate: str) -> None:
        self._places: Dict[str, Tuple[int, int]] = {gate: (0, 0)}

    def note(self, room: str, direction: str, target: str) -> None:
        """What was seen first stays."""
        x, y = self._places[room]
        dx, dy = _STEPS[direction]
        self._places.setdefault(target, (x + dx, y + dy))

    def place(self, room: str) -> Tuple[int, int]:
        """Raises KeyError for a room that was not seen."""
        return self._places[room]

    def rows(self) -> List[str]:
        """The map as text: # for a room."""
        places = set(self._places.values())
        xs, ys = [x for x, _ in places], [y for _, y in places]
        return [
            "".join("#" if (x, y) in places else "." for x in range(min(xs), max(xs) + 1))
            for y in range(min(ys), max(ys) + 1)
        ]
