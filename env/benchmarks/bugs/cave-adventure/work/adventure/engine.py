# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The game loop's state: where the player is and what they carry."""
from __future__ import annotations

import importlib
from typing import Any, Dict, List


class Game:
    """One running story.

    `do` takes a command line and returns the text to show. Unknown commands
    shall leave the game unchanged.
    """

    def __init__(self, story: Dict[str, Any]) -> None:
        self.rooms = story["rooms"]
        self.locks = dict(story.get("locks", {}))
        self.here = story["start"]
        self.bag: List[str] = []
        self.items = {name: list(room.get("items", ())) for name, room in self.rooms.items()}

    def look(self) -> str:
        """Describe the room, its items and its exits."""
        room = self.rooms[self.here]
        lines = [room["text"]]
        if self.items[self.here]:
            lines.append("You see: " + ", ".join(self.items[self.here]) + ".")
        lines.append("Exits: " + ", ".join(sorted(room["exits"])) + ".")
        return "\n".join(lines)

    def do(self, line: str) -> str:
        """Carry out one command: go, take, drop, look or bag."""
        verb, _, noun = line.strip().lower().partition(" ")
        if verb == "look":
            return self.look()
        if verb == "bag":
            return "You carry: " + (", ".join(self.bag) or "nothing") + "."
        handler = {"go": self._go, "take": self._take, "drop": self._drop}.get(verb)
        return handler(noun.strip()) if handler else "I do not understand."

    def _go(self, way: str) -> str:
        target = self.rooms[self.here]["exits"].get(way)
        if target is None:
            return "You cannot go that way."
        key = self.locks.get((self.here, way))
        if key is not None and key not in self.bag:
            return "It is locked."
        self.here = target
        return self.look()

    def _take(self, item: str) -> str:
        if item not in self.items[self.here]:
            return "There is no such thing here."
        self.items[self.here].remove(item)
        self.bag.append(item)
        return "Taken."

    def _drop(self, item: str) -> str:
        if item not in self.bag:
            return "You do not have that."
        self.bag.remove(item)
        self.items[self.here].append(item)
        return "Dropped."


def new_game(story: str) -> Game:
    """Start the story module `adventure.stories.<story>`."""
    module = importlib.import_module("adventure.stories." + story)
    return Game(module.STORY)
