"""Where an episode goes round in circles: the same few actions with the same outcome, over and over."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

LONGEST = 4
"""The number of steps in the longest circle that is looked for."""
LEAST = 3
"""How many times something has to happen to be a repeat."""


class Repeat(NamedTuple):
    """The rows from `first` to `last` are the same `period` rows again and again."""

    first: int
    last: int
    period: int


def repeats(rows: Sequence[Hashable]) -> list[Repeat]:
    """Return the repeats among the rows, by index. They do not overlap, and a shorter period wins over a longer one."""
    repeats_found: list[Repeat] = []
    at = 0
    while at < len(rows):
        best = max((_from(rows, at, period) for period in range(1, LONGEST + 1)), key=lambda repeat: repeat.last)
        if best.last > at:
            repeats_found.append(best)
        at = best.last + 1
    return repeats_found


def _from(rows: Sequence[Hashable], first: int, period: int) -> Repeat:
    end = first + period
    while end < len(rows) and rows[end] == rows[end - period]:
        end += 1
    times = (end - first) // period
    return Repeat(first, first + times * period - 1 if times >= LEAST else first, period)
