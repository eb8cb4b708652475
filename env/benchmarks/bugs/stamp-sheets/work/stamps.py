# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Stamps in stock and the ways to put postage on a letter."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Tuple

from ways import count_ways, fewest


@dataclass(frozen=True)
class Stamp:
    """Stamps of a value in cents, and how many there are."""

    cents: int
    stock: int


class Desk:
    """The stamps at a desk."""

    def __init__(self, stamps: List[Stamp]) -> None:
        if len({stamp.cents for stamp in stamps}) < len(stamps):
            raise ValueError("each value is listed once")
        self._stamps: Tuple[Tuple[int, int], ...] = tuple((s.cents, s.stock) for s in stamps)

    def ways(self, postage: int) -> int:
        """The number of different sets of stamps that make up the postage exactly."""
        return count_ways(postage, self._stamps)

    def cheapest(self, postage: int) -> Optional[int]:
        """The least amount, not below the postage, that can be made up; None if the stock is too small."""
        total = sum(cents * stock for cents, stock in self._stamps)
        return next((cents for cents in range(postage, total + 1) if self.ways(cents)), None)

    def fewest(self, postage: int) -> Optional[int]:
        """The least number of stamps that make up the postage exactly, or None."""
        return fewest(postage, self._stamps)
