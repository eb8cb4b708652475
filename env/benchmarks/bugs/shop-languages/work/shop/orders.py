# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Orders."""
from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import List, Optional, Tuple


@dataclass
class Order:
    """`lines`: what was bought, and its price in cents."""

    number: int
    name: str
    lines: List[Tuple[str, int]] = field(default_factory=list)
    sent: Optional[datetime.date] = None
    cancelled: bool = False

    @property
    def total(self) -> int:
        return sum(price for _, price in self.lines)

    def arrival(self) -> Optional[Tuple[datetime.date, datetime.date]]:
        """Between two and five days after it was sent, Sundays not counted."""
        if self.sent is None:
            return None
        return _after(self.sent, 2), _after(self.sent, 5)


def _after(date: datetime.date, days: int) -> datetime.date:
    while days:
        date += datetime.timedelta(days=1)
        if date.weekday() != 6:
            days -= 1
    return date
