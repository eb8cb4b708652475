# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The game: words in, sentences out."""
from __future__ import annotations

from typing import Callable, Dict, List, Optional

from .guide import NoWay, way
from .wall_map import WallMap
from .world import DIRECTIONS, Room, World


class Game:
    def __init__(self, world: Optional[World] = None) -> None:
        self.world = world or World()
        self.here: Room = self.world.rooms[self.world.gate]
        self.bag: List[str] = []
        self.map = WallMap(self.world.gate)
        self.moves = 0
        self._words: Dict[str, Callable[[str], str]] = {
            "go": self._go,
            "take": self._take,
            "drop": self._drop,
            "look": self._look,
            "guide": self._guide,
        }

    def say(self, sentence: str) -> str:
        """What the game answers."""
        word, _, rest = sentence.strip().lower().partition(" ")
        if word in DIRECTIONS:
            word, rest = "go", word
        action = self._words.get(word)
        return action(rest) if action else f"What is {word}?"

    def play(self, sentences: str) -> List[str]:
        """Several sentences, with commas between them."""
        return [self.say(sentence) for sentence in sentences.split(",")]

    def _go(self, direction: str) -> str:
        target = self.here.doors.get(direction)
        if target is None:
            return "There is a wall."
        self.map.note(self.here.key, direction, target)
        self.here = self.world.rooms[target]
        self.moves += 1
        return self.here.name

    def _take(self, thing: str) -> str:
        if thing not in self.here.things:
            return f"There is no {thing}."
        self.here.things.remove(thing)
        self.bag.append(thing)
        return f"You have the {thing}."

    def _drop(self, thing: str) -> str:
        if thing not in self.bag:
            return f"You have no {thing}."
        self.bag.remove(thing)
        self.here.things.append(thing)
        return f"You leave the {thing}."

    def _look(self, _: str) -> str:
        doors = ", ".join(sorted(self.here.doors))
        things = f" You see: {', '.join(self.here.things)}." if self.here.things else ""
        return f"{self.here.name}. Doors: {doors}.{things}"

    def _guide(self, target: str) -> str:
        """The way to a room, or to the gate."""
        key = target.replace(" ", "_") or self.world.gate
        if key not in self.world.rooms:
            return "The guide does not know it."
        try:
            directions = way(self.world, self.here.key, key)
        except NoWay:
            return "The guide shrugs."
        return ", ".join(directions) or "You are there."
