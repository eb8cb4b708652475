# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""When cycles meet."""
from __future__ import annotations

from functools import reduce
from typing import Iterable

from .cycle import Cycle
from .numbers import bezout


class NeverMeet(Exception):
    """There is no day on which all the cycles are due."""


def meet(cycles: Iterable[Cycle]) -> Cycle:
    """The cycle of the days on which all the cycles are due; every day if there are none."""
    return reduce(_both, cycles, Cycle(1, 0))


def _both(first: Cycle, second: Cycle) -> Cycle:
    divisor, x, _ = bezout(first.length, second.length)
    steps = second.offset - first.offset
    length = first.length // divisor * second.length
    met = Cycle(length, first.offset + first.length * x * steps)
    if not (first.due(met.offset) and second.due(met.offset)):
        raise NeverMeet(f"{first} and {second}")
    return met
