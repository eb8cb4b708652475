# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Riding on belts."""
from __future__ import annotations

from .floor import Floor, Place


class Trapped(Exception):
    """The belts carry the cart around forever."""


def ride(floor: Floor, place: Place) -> Place:
    """Where a cart put at `place` comes to rest.

    A belt carries it on to the next place; it rests on a place without a belt, or on a belt that runs
    against a wall. Raises Trapped if it never rests.
    """
    current = place
    while True:
        direction = floor.belt(current)
        if direction is None:
            return current
        following = floor.neighbour(current, direction)
        if not floor.is_open(following):
            return current
        if following == place:
            raise Trapped(f"from {place}")
        current = following
