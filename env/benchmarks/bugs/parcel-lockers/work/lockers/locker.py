# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lockers."""
from __future__ import annotations

from typing import Optional

from lockers.errors import Blocked, WrongCode
from lockers.parcel import Parcel

MAX_TRIES = 3


class Locker:
    """A locker of a size: free, taken by a parcel, or blocked after three wrong codes in a row."""

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.parcel: Optional[Parcel] = None
        self.blocked = False
        self._wrong = 0

    def fill(self, parcel: Parcel) -> None:
        """Lock a parcel in."""
        if self.parcel is not None:
            raise ValueError("not empty: " + self.name)
        self.parcel = parcel

    def clear(self) -> Parcel:
        """Take the parcel out; the locker is free and as new."""
        if self.parcel is None:
            raise ValueError("empty: " + self.name)
        parcel, self.parcel = self.parcel, None
        self.blocked = False
        return parcel

    def open(self, code: str) -> Parcel:
        """Take the parcel out with its code. Wrong codes raise WrongCode, the third one in a row blocks the locker."""
        if self.blocked:
            raise Blocked(self.name)
        if self.parcel is None or code != self.parcel.code:
            self._wrong += 1
            if self._wrong >= MAX_TRIES:
                self.blocked = True
                raise Blocked(self.name)
            raise WrongCode("%d tries left" % (MAX_TRIES - self._wrong))
        return self.clear()
