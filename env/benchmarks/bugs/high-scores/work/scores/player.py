# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Players."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List


@dataclass
class Player:
    """A player with all scores."""

    name: str
    scores: List[int] = field(default_factory=list)

    def best(self) -> int:
        return max(self.scores, default=0)

    def average(self) -> float:
        return sum(self.scores) / len(self.scores) if self.scores else 0.0
