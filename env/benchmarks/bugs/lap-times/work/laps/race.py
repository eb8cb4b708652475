# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Races."""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple, Union

from laps.times import LapTime


class Race:
    """Laps by runner. Only runners with all laps are in the result."""

    def __init__(self, laps: int) -> None:
        self.laps = laps
        self._times: Dict[str, List[LapTime]] = {}

    def record(self, runner: str, time: str) -> None:
        """Note a lap; further laps than the race has are not noted."""
        times = self._times.setdefault(runner, [])
        if len(times) < self.laps:
            times.append(LapTime.parse(time))

    def total(self, runner: str) -> LapTime:
        """The time of all laps so far; no laps take no time."""
        return LapTime() + sum(self._times.get(runner, []))

    def best(self, runner: str) -> Optional[LapTime]:
        """The fastest lap, None before the first."""
        return min(self._times.get(runner, []), default=None)

    def result(self) -> List[Tuple[int, str, LapTime]]:
        """Place, runner and time, fastest first; equal times share a place and stand in order of names."""
        finished = [name for name, times in self._times.items() if len(times) == self.laps]
        totals = sorted((self.total(name), name) for name in finished)
        rows: List[Tuple[int, str, LapTime]] = []
        for number, (time, name) in enumerate(totals, 1):
            place = rows[-1][0] if rows and rows[-1][2] == time else number
            rows.append((place, name, time))
        return rows

    def average_lap(self) -> Optional[LapTime]:
        """The average of all laps run by anybody, None if there are none."""
        every = [time for times in self._times.values() for time in times]
        return sum(every) // len(every) if every else None
