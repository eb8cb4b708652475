# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The station."""
from __future__ import annotations

from typing import Dict, List, Optional

from lockers.errors import NoRoom
from lockers.locker import Locker
from lockers.parcel import Parcel


class Station:
    """Lockers by name."""

    def __init__(self, sizes: Dict[str, int]) -> None:
        self._lockers = {name: Locker(name, size) for name, size in sizes.items()}
        self.returned: List[Parcel] = []

    def _pick(self, size: int) -> Locker:
        """The smallest free locker that is large enough, of equal ones the first by name."""
        free = [locker for locker in self._lockers.values() if locker.parcel is None and not locker.blocked]
        fitting = [locker for locker in free if locker.size >= size]
        if not fitting:
            raise NoRoom("size %d" % size)
        return min(fitting, key=lambda locker: (locker.size, locker.name))

    def bring(self, number: str, size: int, code: str, day: int) -> str:
        """Put a parcel into a locker; the name of the locker."""
        locker = self._pick(size)
        locker.fill(Parcel(number, size, code, day))
        return locker.name

    def fetch(self, name: str, code: str) -> str:
        """Open a locker with a code; the number of the parcel."""
        return self._lockers[name].open(code).number

    def unblock(self, name: str) -> None:
        """The staff gives a customer three new tries."""
        locker = self._lockers[name]
        locker.blocked = False
        locker._wrong = 0

    def end_of_day(self, day: int, keep: int = 7) -> List[str]:
        """Clear the lockers of parcels brought `keep` days ago or earlier; their numbers by locker."""
        cleared = []
        for locker in self._lockers.values():
            if locker.parcel is not None and day - locker.parcel.day >= keep:
                parcel = locker.clear()
                self.returned.append(parcel)
                cleared.append(parcel.number)
        return cleared

    def blocked(self) -> List[str]:
        """Names of blocked lockers."""
        return [locker.name for locker in self._lockers.values() if locker.blocked]
