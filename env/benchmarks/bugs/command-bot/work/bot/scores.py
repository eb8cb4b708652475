# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Who has how many points."""
from __future__ import annotations

from typing import Dict, List, Tuple

from .errors import CommandError


class NotPlayed(CommandError):
    """No points, since the person has not played."""


class Scores:
    """Points by player."""

    def __init__(self) -> None:
        self._points: Dict[str, int] = {}

    def add(self, player: str, points: int) -> int:
        self._points[player] = self._points.get(player, 0) + points
        return self._points[player]

    def of(self, player: str) -> int:
        try:
            return self._points[player]
        except KeyError:
            raise NotPlayed(f"nobody called {player} has played") from None

    def best(self, count: int) -> List[Tuple[str, int]]:
        return sorted(self._points.items(), key=lambda item: (-item[1], item[0]))[:count]
