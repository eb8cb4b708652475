# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The simulation."""
from __future__ import annotations

from typing import List

from .rules import following
from .terrain import ASH, FIRE, TREE, Terrain


class Simulation:
    """A forest in steps. All cells change at the same moment."""

    def __init__(self, rows: List[str]) -> None:
        self.terrain = Terrain(rows)
        self.steps = 0
        self.rainy = False

    def step(self) -> int:
        """One step; returns how many cells changed."""
        changes = 0
        for cell in self.terrain.cells():
            sign = following(self.terrain, cell, self.rainy)
            if sign != self.terrain[cell]:
                self.terrain[cell] = sign
                changes += 1
        self.steps += 1
        return changes

    def run(self, limit: int = 1000) -> int:
        """Steps until nothing burns and no ash is left, or `limit` is reached; returns the number of trees left."""
        while self.steps < limit and self.terrain.count(FIRE) + self.terrain.count(ASH):
            self.step()
        return self.terrain.count(TREE)

    def picture(self) -> List[str]:
        return self.terrain.rows()
