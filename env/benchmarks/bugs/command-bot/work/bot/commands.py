# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The standard commands."""
from __future__ import annotations

from typing import Sequence

from .errors import CommandError
from .registry import Registry
from .scores import Scores


def standard_commands(scores: Scores) -> Registry:
    """The commands every bot has."""
    registry = Registry()

    def score(arguments: Sequence[str]) -> str:
        return f"{arguments[0]} has {scores.of(arguments[0])} points"

    def win(arguments: Sequence[str]) -> str:
        player, points = arguments
        return f"{player} now has {scores.add(player, int(points))} points"

    def top(arguments: Sequence[str]) -> str:
        best = scores.best(int(arguments[0]) if arguments else 3)
        if not best:
            raise CommandError("nobody has played")
        return ", ".join(f"{player} {points}" for player, points in best)

    def help_(arguments: Sequence[str]) -> str:
        return "commands: " + ", ".join(registry.names())

    registry.add("score", score, "s")
    registry.add("win", win)
    registry.add("top", top, "t")
    registry.add("help", help_, "?", "h")
    return registry
