# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads castles."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List

from .rooms import GATE, ROOMS

DIRECTIONS = {"north": "south", "south": "north", "east": "west", "west": "east"}
"""Each with the opposite one."""


class BadWorld(ValueError):
    """A line that cannot be understood, or a door to nowhere."""


@dataclass
class Room:
    key: str
    name: str
    doors: Dict[str, str] = field(default_factory=dict)
    things: List[str] = field(default_factory=list)


class World:
    def __init__(self, text: str = ROOMS, gate: str = GATE) -> None:
        """Raises BadWorld."""
        self.rooms: Dict[str, Room] = {}
        self.gate = gate
        room = Room("", "")
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words:
                continue
            if not line.startswith(" "):
                key, _, name = line.partition(": ")
                room = self.rooms[key] = Room(key, name)
            elif words[0] == "*":
                room.things.append(words[1])
            elif words[0] in DIRECTIONS and len(words) == 2:
                room.doors[words[0]] = words[1]
            else:
                raise BadWorld(f"line {number}: {line!r}")
        for room in self.rooms.values():
            for direction, key in room.doors.items():
                if key not in self.rooms:
                    raise BadWorld(f"{room.key}: {direction} leads to {key}, which is not there")
        if gate not in self.rooms:
            raise BadWorld(f"the gate {gate} is not there")
