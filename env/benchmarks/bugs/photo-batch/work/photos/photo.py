# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Photos as rows of grey values."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence, Tuple

Rows = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Photo:
    """A photo with its name."""

    name: str
    rows: Rows

    def thumbnail(self, size: int) -> Tuple[Tuple[int, ...], ...]:
        """At most `size` rows and columns: every n-th pixel."""
        step = max(1, -(-max(len(self.rows), max(map(len, self.rows), default=0)) // size))
        return tuple(tuple(row[::step]) for row in self.rows[::step])

    def brightness(self) -> int:
        """The average grey value, rounded down."""
        pixels = [pixel for row in self.rows for pixel in row]
        return sum(pixels) // len(pixels) if pixels else 0
