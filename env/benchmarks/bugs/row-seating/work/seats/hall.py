# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The hall: rows of seats, free or taken."""
from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Tuple


class Row:
    """Seats side by side, counted from 0."""

    def __init__(self, plan: str) -> None:
        """Read a plan such as `..x.`, with `.` for free and any other mark for taken."""
        self._guests: List[Optional[str]] = [None if mark == "." else mark for mark in plan]

    def __len__(self) -> int:
        return len(self._guests)

    def __str__(self) -> str:
        return "".join(guest[0] if guest else "." for guest in self._guests)

    def is_free(self, seat: int) -> bool:
        """Whether there is such a seat and it is free."""
        return 0 <= seat < len(self._guests) and self._guests[seat] is None

    def blocks(self, size: int) -> Iterator[int]:
        """First seats of all runs of `size` free seats, from the left."""
        for start in range(len(self._guests) - size + 1):
            if all(self.is_free(seat) for seat in range(start, start + size)):
                yield start

    def take(self, start: int, size: int, guest: str) -> None:
        """Seat a guest's party."""
        self._guests[start:start + size] = [guest] * size

    def release(self, guest: str) -> int:
        """Free the seats of a guest; returns how many."""
        count = self._guests.count(guest)
        self._guests = [None if g == guest else g for g in self._guests]
        return count


class Hall:
    """Rows by name, front row first."""

    def __init__(self, plans: Dict[str, str]) -> None:
        self.rows = {name: Row(plan) for name, plan in plans.items()}

    def blocks(self, size: int) -> Iterator[Tuple[str, int]]:
        """(row name, first seat) of all free blocks, front row first, from the left."""
        for name, row in self.rows.items():
            for start in row.blocks(size):
                yield name, start

    def __str__(self) -> str:
        return "\n".join("%s %s" % (name, row) for name, row in self.rows.items())
