# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The signal book, read."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Tuple

from .routes import ROUTES

WEST, EAST = "A", "H"


class BadLayout(ValueError):
    """A line that cannot be understood, or a train that would leave the rails."""


class Route(NamedTuple):
    """`points`: section -> up or down, where a train does not go straight on."""

    name: str
    sections: Tuple[str, ...]
    points: Dict[str, str]


class Layout:
    def __init__(self, text: str = ROUTES) -> None:
        """Raises BadLayout."""
        self.routes: Dict[str, Route] = {}
        name, sections, points = "", (), {}
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words:
                continue
            if not line.startswith(" "):
                name, sections, points = words[0], (), {}
            elif words[0] == "sections":
                sections = (*sections, *words[1:])
            elif words[0] == "point" and len(words) == 3 and words[2] in ("up", "down"):
                points[words[1]] = words[2]
            else:
                raise BadLayout(f"line {number}: {line!r}")
            self.routes[name] = Route(name, sections, points)

    def path(self, route: Route) -> List[str]:
        """Where the rails lead a train that has this route. Raises BadLayout."""
        row = int(route.name.partition("-")[0][1:])
        found = []
        for letter in map(chr, range(ord(WEST), ord(EAST) + 1)):
            if row < 1:
                raise BadLayout(f"{route.name} leaves the rails at {letter}")
            section = f"{letter}{row}"
            found.append(section)
            row += {"up": -1, "down": 1}.get(route.points.get(section, ""), 0)
        return found
