# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Points in groups; within a group all differences are known."""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple


class Links:
    """Every point refers to another of its group and knows how much higher it is; the top refers to itself."""

    def __init__(self) -> None:
        self._next: Dict[str, str] = {}
        self._above: Dict[str, int] = {}
        self._count: Dict[str, int] = {}

    def _add(self, point: str) -> None:
        if point not in self._next:
            self._next[point] = point
            self._above[point] = 0
            self._count[point] = 1

    def top(self, point: str) -> Tuple[str, int]:
        """The top of the point's group and how much higher than it the point is."""
        self._add(point)
        path: List[str] = []
        while self._next[point] != point:
            path.append(point)
            point = self._next[point]
        height = 0
        for each in reversed(path):
            height += self._above[each]
            self._next[each], self._above[each] = point, height
        return point, height

    def link(self, a: str, b: str, rise: int) -> Optional[int]:
        """Note that `b` is `rise` higher than `a`.

        If the difference is known already nothing changes, and it is
        returned; otherwise the groups are joined and None is returned.
        """
        top_a, above_a = self.top(a)
        top_b, above_b = self.top(b)
        if top_a == top_b:
            return above_b - above_a
        offset = above_a + rise - above_b
        if self._count[top_a] < self._count[top_b]:
            top_a, top_b = top_b, top_a
        self._next[top_b] = top_a
        self._above[top_b] = offset
        self._count[top_a] += self._count.pop(top_b)
        return None

    def rise(self, a: str, b: str) -> Optional[int]:
        """How much higher `b` is than `a`; None if that is not known."""
        if a not in self._next or b not in self._next:
            return None
        top_a, above_a = self.top(a)
        top_b, above_b = self.top(b)
        return above_b - above_a if top_a == top_b else None

    def points(self) -> List[str]:
        return list(self._next)
