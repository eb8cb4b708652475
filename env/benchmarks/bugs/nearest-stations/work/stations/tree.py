# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A tree of stations, split by x and y in turn."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence

from .point import Station


@dataclass(frozen=True)
class Node:
    """A station; `left` has those not above it on the axis, `right` those not below."""

    station: Station
    axis: int
    left: Optional["Node"]
    right: Optional["Node"]


def build(stations: Sequence[Station], axis: int = 0) -> Optional[Node]:
    """The tree of some stations."""
    if not stations:
        return None
    ordered: List[Station] = sorted(stations, key=lambda s: (s.place[axis], s.name))
    middle = len(ordered) // 2
    return Node(
        ordered[middle], axis, build(ordered[:middle], 1 - axis), build(ordered[middle + 1 :], 1 - axis)
    )
