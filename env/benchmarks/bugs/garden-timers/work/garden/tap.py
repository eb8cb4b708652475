# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Taps."""
from __future__ import annotations

from dataclasses import dataclass

DAY = 24 * 60


@dataclass
class Tap:
    """A tap that opens every `days` days at a minute of the day for some minutes."""

    name: str
    minute: int
    length: int
    days: int = 1

    def next_opening(self, now: int) -> int:
        """The first opening at or after the minute given, counting today."""
        today = now - now % DAY + self.minute
        return today if today >= now else today + DAY

    def after(self, opening: int) -> int:
        """The opening that follows one."""
        return opening + self.days * DAY
