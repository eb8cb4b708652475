# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Times on the track."""
from __future__ import annotations

from functools import total_ordering
from typing import Any, Union


@total_ordering
class LapTime:
    """A time in thousandths of a second. Times can be added and compared with each other."""

    __slots__ = ("_ms",)

    def __init__(self, milliseconds: int = 0) -> None:
        if milliseconds < 0:
            raise ValueError("times are not negative")
        self._ms = milliseconds

    @classmethod
    def parse(cls, text: str) -> "LapTime":
        """Read `1:02.345`, `62.3` or `62`."""
        minutes, _, rest = text.strip().rpartition(":")
        seconds, _, fraction = rest.partition(".")
        ms = int(seconds) * 1000 + int((fraction + "000")[:3])
        return cls(ms + (int(minutes) * 60000 if minutes else 0))

    @property
    def milliseconds(self) -> int:
        return self._ms

    def __add__(self, other: Any) -> "LapTime":
        """The sum of two times. The number 0 counts as no time, so that sum() works."""
        if other == 0:
            return self
        if not isinstance(other, LapTime):
            return NotImplemented
        return LapTime(self._ms + other._ms)

    def __mul__(self, count: int) -> "LapTime":
        return LapTime(self._ms * count)

    def __floordiv__(self, count: int) -> "LapTime":
        return LapTime(self._ms // count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LapTime):
            return NotImplemented
        return self._ms == other._ms

    def __lt__(self, other: "LapTime") -> bool:
        if not isinstance(other, LapTime):
            return NotImplemented
        return self._ms < other._ms

    def __hash__(self) -> int:
        return hash(self._ms)

    def __str__(self) -> str:
        minutes, ms = divmod(self._ms, 60000)
        return "%d:%02d.%03d" % (minutes, ms // 1000, ms % 1000)

    def __repr__(self) -> str:
        return "LapTime.parse(%r)" % str(self)
