# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Grey pictures."""
from __future__ import annotations

from typing import Callable, List


class Image:
    """A picture; `data` holds the rows one after the other, values 0 to 255."""

    def __init__(self, width: int, height: int, data: List[int]) -> None:
        self.width = width
        self.height = height
        self.data = data

    @classmethod
    def from_function(cls, width: int, height: int, value: Callable[[int, int], int]) -> "Image":
        """A picture whose pixel in column x and row y is value(x, y)."""
        return cls(width, height, [value(x, y) for y in range(height) for x in range(width)])

    def at(self, x: int, y: int) -> int:
        """The pixel in column x and row y."""
        return self.data[y * self.width + x]

    def rows(self) -> List[List[int]]:
        return [self.data[y * self.width:(y + 1) * self.width] for y in range(self.height)]
