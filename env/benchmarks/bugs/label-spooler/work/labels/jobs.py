# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Jobs."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Job:
    """Print `copies` of a label."""

    number: int
    text: str
    copies: int = 1
    state: str = "waiting"

    def lines(self) -> int:
        return self.copies * (self.text.count("\n") + 1)
