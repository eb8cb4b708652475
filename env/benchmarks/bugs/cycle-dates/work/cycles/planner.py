# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The planner."""
from __future__ import annotations

from datetime import date
from typing import Dict, List, Optional

from .cycle import Cycle
from .meeting import NeverMeet, meet


class Planner:
    """Work by name, each with a first day and a number of days after which it is due again."""

    def __init__(self) -> None:
        self._work: Dict[str, Cycle] = {}

    def add(self, name: str, first: date, every: int) -> None:
        self._work[name] = Cycle(every, first.toordinal())

    def due(self, day: date) -> List[str]:
        """What is due on a day."""
        return sorted(n for n, cycle in self._work.items() if cycle.due(day.toordinal()))

    def together(self, names: List[str], after: date) -> Optional[date]:
        """The first day after the given one on which all of them are due, or None if there never is any."""
        try:
            cycle = meet(self._work[name] for name in names)
        except NeverMeet:
            return None
        return date.fromordinal(cycle.next(after.toordinal() + 1))

    def days_together(self, names: List[str], after: date, count: int) -> List[date]:
        """The first `count` such days."""
        days: List[date] = []
        day = after
        while len(days) < count:
            found = self.together(names, day)
            if found is None:
                break
            days.append(found)
            day = found
        return days
