# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Planning routes."""
from __future__ import annotations

from collections import deque

from .belts import Trapped, ride
from .floor import STEPS, Floor, Place


def moves(floor: Floor, place: Place) -> dict[str, Place]:
    """Where a push in each direction takes a resting cart, belts included; pushes it cannot get off from are left out.

    A cart that rests on a belt against a wall can be pushed off the belt to any side.
    """
    found: dict[str, Place] = {}
    for direction in STEPS:
        pushed = floor.neighbour(place, direction)
        if floor.is_open(pushed):
            try:
                found[direction] = ride(floor, pushed)
            except Trapped:
                continue
    return found


def route(floor: Floor) -> str | None:
    """The fewest pushes from the start to the goal as letters (N before E, S, W), or None if there is no way."""
    routes: dict[Place, str] = {floor.start: ""}
    queue = deque([floor.start])
    while queue:
        place = queue.popleft()
        if place == floor.goal:
            return routes[place]
        for direction, rest in moves(floor, place).items():
            if rest not in routes:
                routes[rest] = routes[place] + direction
                queue.append(rest)
    return None


def reachable(floor: Floor) -> set[Place]:
    """All the places where a cart from the start can come to rest."""
    found = {floor.start}
    pending = [floor.start]
    while pending:
        for rest in moves(floor, pending.pop()).values():
            if rest not in found:
                found.add(rest)
                pending.append(rest)
    return found


def traps(floor: Floor) -> set[Place]:
    """The places from which a cart never comes to rest."""
    found = set()
    for place in floor.places():
        try:
            ride(floor, place)
        except Trapped:
            found.add(place)
    return found
