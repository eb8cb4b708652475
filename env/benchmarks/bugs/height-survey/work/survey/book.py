# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Field books."""
from __future__ import annotations

from typing import Dict, List, NamedTuple, Optional

from survey.links import Links


class Misfit(NamedTuple):
    """A measurement that does not agree with those before it."""

    start: str
    end: str
    measured: int
    known: int


class FieldBook:
    """Measurements in millimetres; `tolerance` is how far repeated ones may differ."""

    def __init__(self, tolerance: int = 3) -> None:
        self.tolerance = tolerance
        self.misfits: List[Misfit] = []
        self._links = Links()
        self._bench: Dict[str, int] = {}

    def measure(self, start: str, end: str, rise: int) -> bool:
        """Note a measurement; whether it agrees with what is known. The first one to tell a difference counts."""
        known = self._links.link(start, end, rise)
        if known is None or abs(known - rise) <= self.tolerance:
            return True
        self.misfits.append(Misfit(start, end, rise, known))
        return False

    def read(self, text: str) -> None:
        """Lines of `start end rise`; `=` instead of an end sets a height above the sea."""
        for line in text.splitlines():
            if not line.strip():
                continue
            start, end, number = line.split()
            if end == "=":
                self._bench[start] = int(number)
            else:
                self.measure(start, end, int(number))

    def rise(self, start: str, end: str) -> Optional[int]:
        """The height difference, None if not known."""
        return 0 if start == end else self._links.rise(start, end)

    def height(self, point: str) -> Optional[int]:
        """The height above the sea, by the first bench mark that is linked with the point."""
        for mark, height in self._bench.items():
            rise = self.rise(mark, point)
            if rise is not None:
                return height + rise
        return None

    def profile(self, points: List[str]) -> List[Optional[int]]:
        """The heights of points relative to the first one."""
        return [self.rise(points[0], point) for point in points]
