# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Moves."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Move:
    """Take `count` coins from the left or the right end."""

    end: str
    count: int

    def __str__(self) -> str:
        return f"{self.count} from the {self.end}"
