# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A grade book."""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from points import average, letter, whole


class GradeBook:
    """Points of pupils in tests that count more or less."""

    def __init__(self) -> None:
        self._tests: Dict[str, int] = {}
        self._points: Dict[str, Dict[str, int]] = {}

    def add_test(self, name: str, weight: int = 1) -> None:
        if weight < 1:
            raise ValueError("a test counts at least once")
        self._tests[name] = weight

    def enter(self, pupil: str, test: str, points: int) -> None:
        """Enter the points of a pupil, from 0 to 100."""
        if test not in self._tests:
            raise KeyError(test)
        if not 0 <= points <= 100:
            raise ValueError(f"{points} points are not from 0 to 100")
        self._points.setdefault(pupil, {})[test] = points

    def final(self, pupil: str) -> Optional[int]:
        """The average of the tests the pupil wrote, in whole points; half points count upwards."""
        written = self._points.get(pupil, {})
        if not written:
            return None
        return whole(average([(points, self._tests[test]) for test, points in written.items()]))

    def report(self) -> List[Tuple[str, int, str]]:
        """Pupil, final points and letter, the best first, then by name."""
        rows = []
        for pupil in self._points:
            points = self.final(pupil)
            assert points is not None
            rows.append((pupil, points, letter(points)))
        return sorted(rows, key=lambda row: (-row[1], row[0]))
