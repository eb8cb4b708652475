# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cycles of days."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cycle:
    """Due every `length` days, on the days whose number leaves `offset` when divided by it."""

    length: int
    offset: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError("a cycle has a day at least")
        object.__setattr__(self, "offset", self.offset % self.length)

    def due(self, day: int) -> bool:
        return day % self.length == self.offset

    def next(self, day: int) -> int:
        """The first day it is due, not before the given one."""
        return day + (self.offset - day) % self.length
