# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Weeks of the rota."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Sequence

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass
class Week:
    """The helpers of each open day."""

    number: int
    helpers: Dict[str, List[str]] = field(default_factory=dict)

    @classmethod
    def empty(cls, number: int, days: Sequence[str] = DAYS) -> "Week":
        """A week with nobody on it yet."""
        return cls(number, dict.fromkeys(days, []))

    def days_of(self, name: str) -> List[str]:
        """The days a person helps."""
        return [day for day, names in self.helpers.items() if name in names]

    def copy(self, number: int) -> "Week":
        """A week with the same helpers that can be changed on its own."""
        return Week(number, {day: list(names) for day, names in self.helpers.items()})
