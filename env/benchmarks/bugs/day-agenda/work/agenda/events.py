# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Events."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Event:
    """Something from `start` to before `end`, both with a time zone."""

    title: str
    start: datetime
    end: datetime
    all_day: bool = False

    def overlaps(self, start: datetime, end: datetime) -> bool:
        return self.start < end and start < self.end

    def length(self) -> timedelta:
        return self.end - self.start
