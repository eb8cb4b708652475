# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The guide: knows the shortest way."""
from __future__ import annotations

from collections import deque
from typing import Deque, Dict, List, Tuple

from .world import World


class NoWay(Exception):
    """One cannot get there."""


def way(world: World, start: str, end: str) -> List[str]:
    """The directions of a shortest way. Raises NoWay."""
    came: Dict[str, Tuple[str, str]] = {start: ("", "")}
    waiting: Deque[str] = deque([start])
    while waiting and end not in came:
        key = waiting.popleft()
        for direction, target in sorted(world.rooms[key].doors.items()):
            if target not in came:
                came[target] = key, direction
                waiting.append(target)
    if end not in came:
        raise NoWay(f"from {start} to {end}")
    found: List[str] = []
    while end != start:
        end, direction = came[end]
        found.append(direction)
    return found[::-1]
