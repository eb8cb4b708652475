# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The rota of a season."""
from __future__ import annotations

from typing import Dict, List, Sequence

from .weeks import DAYS, Week


class RotaError(ValueError):
    """Something that the rota does not allow."""


class Rota:
    """Weeks, each with up to `places` helpers per open day."""

    def __init__(self, places: int = 2, days: Sequence[str] = DAYS) -> None:
        self.places = places
        self.days = tuple(days)
        self._weeks: Dict[int, Week] = {}

    def week(self, number: int) -> Week:
        """The week; a new one is empty."""
        if number not in self._weeks:
            self._weeks[number] = Week.empty(number, self.days)
        return self._weeks[number]

    def sign_up(self, name: str, number: int, day: str) -> None:
        """Put a person on a day."""
        helpers = self.week(number).helpers
        if day not in helpers:
            raise RotaError(f"closed on {day}")
        if name in helpers[day]:
            raise RotaError(f"{name} helps on {day} already")
        if len(helpers[day]) >= self.places:
            raise RotaError(f"{day} is full")
        helpers[day].append(name)

    def repeat(self, number: int, times: int) -> None:
        """Use the helpers of a week for the following `times` weeks too."""
        for later in range(number + 1, number + times + 1):
            self._weeks[later] = self.week(number).copy(later)

    def open_places(self, number: int) -> Dict[str, int]:
        """How many helpers are still wanted, for the days where any are."""
        helpers = self.week(number).helpers
        return {day: self.places - len(names) for day, names in helpers.items() if len(names) < self.places}

    def load(self) -> Dict[str, int]:
        """How many days each person helps in all weeks."""
        result: Dict[str, int] = {}
        for week in self._weeks.values():
            for names in week.helpers.values():
                for name in names:
                    result[name] = result.get(name, 0) + 1
        return result

    def lines(self, number: int) -> List[str]:
        """The week as it hangs on the wall."""
        return [f"{day}: {', '.join(names) or '-'}" for day, names in self.week(number).helpers.items()]
