# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Places, roads and which of them can be used."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, List, Set


@dataclass(frozen=True)
class Road:
    """One direction of a road."""

    name: str
    start: str
    end: str
    minutes: int


class Network:
    """Roads between places; each can be driven both ways while it is open."""

    def __init__(self) -> None:
        self._from: Dict[str, List[Road]] = {}
        self._closed: Set[str] = set()
        self._usable: Dict[str, Iterable[Road]] = {}

    @classmethod
    def parse(cls, text: str) -> Network:
        """Read lines `name: place - place minutes`."""
        network = cls()
        for line in text.splitlines():
            if line.strip():
                name, _, rest = line.partition(":")
                ends, _, minutes = rest.strip().rpartition(" ")
                start, _, end = ends.partition(" - ")
                network.add(name.strip(), start.strip(), end.strip(), int(minutes))
        return network

    def add(self, name: str, start: str, end: str, minutes: int) -> None:
        """Add a road, open at first."""
        self._from.setdefault(start, []).append(Road(name, start, end, minutes))
        self._from.setdefault(end, []).append(Road(name, end, start, minutes))
        self._usable.clear()

    def close(self, name: str) -> None:
        """Close a road to traffic."""
        self._closed.add(name)
        self._usable.clear()

    def open(self, name: str) -> None:
        """Open a road again."""
        self._closed.discard(name)
        self._usable.clear()

    def places(self) -> List[str]:
        """All places, sorted."""
        return sorted(self._from)

    def leaving(self, place: str) -> Iterable[Road]:
        """The open roads that leave a place, in the order they were added."""
        if place not in self._usable:
            roads = self._from.get(place, [])
            self._usable[place] = filter(lambda road: road.name not in self._closed, roads)
        return self._usable[place]
