# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The slip that the machine prints."""
from __future__ import annotations

from typing import Iterable, List, NamedTuple, Optional

from .machine import Fault, Machine


class Slip(NamedTuple):
    """`worst`: the lowest booking, or 0. `check`: of the digits of the total. `grade`: from 0 to 3."""

    average: int
    total: int
    worst: int
    refunds: int
    check: int
    grade: int

    def lines(self) -> List[str]:
        return [f"{name:<8}{value:>8}" for name, value in zip(self._fields, self)]


def run(bookings: Iterable[int], machine: Optional[Machine] = None) -> Optional[Slip]:
    """The slip of a day, or None for a day without bookings. Raises Fault."""
    written = (machine or Machine()).run(bookings)
    if len(written) == 1:
        return None
    if len(written) != len(Slip._fields):
        raise Fault(f"{len(written)} numbers on the slip")
    return Slip(*written)
