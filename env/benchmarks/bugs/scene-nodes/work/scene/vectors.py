# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Points in the plane."""
from __future__ import annotations

from typing import NamedTuple


class Vec(NamedTuple):
    """A point or an offset."""

    x: float
    y: float

    def plus(self, other: "Vec") -> "Vec":
        return Vec(self.x + other.x, self.y + other.y)

    def minus(self, other: "Vec") -> "Vec":
        return Vec(self.x - other.x, self.y - other.y)


ORIGIN = Vec(0.0, 0.0)
