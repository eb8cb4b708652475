# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Time cards."""
from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from .zone import CENTRAL


class BadCard(ValueError):
    """A line of a card that makes no sense."""


def time_between(start: datetime, end: datetime) -> timedelta:
    """The time that really passes between two moments."""
    return end - start


@dataclass(frozen=True)
class Shift:
    """One shift of a worker, with the minutes of breaks in it."""

    worker: str
    start: datetime
    end: datetime
    break_minutes: int = 0

    @property
    def minutes(self) -> int:
        """The minutes worked: from start to end, without the breaks."""
        return time_between(self.start, self.end) // timedelta(minutes=1) - self.break_minutes


def read_cards(text: str) -> list[Shift]:
    """Read lines like "ann 2024-05-01T22:00 2024-05-02T06:00 30" (the break may be left out).

    A "b" behind a time marks the second one of an hour that comes twice.
    """
    shifts = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words:
            continue
        if len(words) not in (3, 4):
            raise BadCard(f"line {number}: {line!r}")
        shift = Shift(words[0], _moment(words[1]), _moment(words[2]), int(words[3]) if len(words) == 4 else 0)
        if shift.minutes <= 0:
            raise BadCard(f"line {number}: nothing was worked")
        shifts.append(shift)
    return shifts


def _moment(word: str) -> datetime:
    second = word.endswith("b")
    moment = datetime.strptime(word[:-1] if second else word, "%Y-%m-%dT%H:%M")
    return moment.replace(tzinfo=CENTRAL, fold=int(second))
