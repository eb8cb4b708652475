# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The hero."""
from __future__ import annotations

from typing import List

from tiles.camera import Camera
from tiles.world import World

STEPS = {"n": (0, -1), "s": (0, 1), "w": (-1, 0), "e": (1, 0)}


class Game:
    """A hero on a map, seen through a camera."""

    def __init__(self, text: str, screen: int = 3, start: str = "S") -> None:
        self.world = World(text)
        self.camera = Camera(self.world, screen, screen)
        self.x, self.y = self.world.find(start)

    def walk(self, ways: str) -> int:
        """Take steps such as `nnee`; those into walls or off the map are not taken.
        Returns how many were."""
        taken = 0
        for way in ways:
            dx, dy = STEPS[way]
            if self.world.can_enter(self.x + dx, self.y + dy):
                self.x, self.y = self.x + dx, self.y + dy
                taken += 1
        return taken

    def screen(self) -> List[str]:
        """What is on the screen now."""
        return self.camera.view(self.x, self.y)
