# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Queries."""
from __future__ import annotations

from typing import Iterator, Optional

from .best import Best
from .point import Place, Station, square
from .tree import Node


def nearest(node: Optional[Node], place: Place, best: Best, bikes: int) -> None:
    """Offer the stations with enough bikes that may be among the nearest."""
    if node is None:
        return
    if node.station.bikes >= bikes:
        best.offer(square(place, node.station.place), node.station)
    off = place[node.axis] - node.station.place[node.axis]
    near, far = (node.left, node.right) if off <= 0 else (node.right, node.left)
    nearest(near, place, best, bikes)
    if off * off <= best.limit:
        nearest(far, place, best, bikes)


def around(node: Optional[Node], place: Place, radius: float) -> Iterator[Station]:
    """The stations that are no further away than the radius."""
    if node is None:
        return
    if square(place, node.station.place) <= radius * radius:
        yield node.station
    off = place[node.axis] - node.station.place[node.axis]
    if off <= radius:
        yield from around(node.left, place, radius)
    if off >= -radius:
        yield from around(node.right, place, radius)
