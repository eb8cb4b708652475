# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The drawing itself."""
from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Dict


@dataclass(frozen=True)
class Shape:
    """A box with a name and a place."""

    name: str
    x: int
    y: int
    colour: str = "black"


class Drawing:
    """Shapes by name."""

    def __init__(self) -> None:
        self.shapes: Dict[str, Shape] = {}

    def put(self, shape: Shape) -> None:
        """Add the shape, or replace the one of the same name."""
        self.shapes[shape.name] = shape

    def take(self, name: str) -> Shape:
        """Remove a shape and return it."""
        return self.shapes.pop(name)

    def change(self, name: str, **values: object) -> Shape:
        """Change attributes of a shape; return the shape as it was."""
        before = self.shapes[name]
        self.shapes[name] = replace(before, **values)
        return before
