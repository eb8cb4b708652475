# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Spans."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass
class Span:
    """A piece of work with a beginning, an end and, unless it is a root, a parent."""

    number: int
    name: str
    parent: Optional[int]
    start: float
    end: Optional[float] = None

    @property
    def seconds(self) -> float:
        if self.end is None:
            raise ValueError(f"span {self.name!r} has not ended")
        return self.end - self.start
