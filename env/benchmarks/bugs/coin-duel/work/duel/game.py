# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The game."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

from .move import Move


@dataclass(frozen=True)
class Game:
    """A row of coins, and how far the player whose turn it is leads; one or two coins are taken at a time."""

    coins: Tuple[int, ...]
    lead: int = 0

    @property
    def over(self) -> bool:
        return not self.coins

    def moves(self) -> List[Move]:
        """What the player may do."""
        counts = range(1, min(2, len(self.coins)) + 1)
        return [Move(end, count) for end in ("left", "right") for count in counts]

    def after(self, move: Move) -> "Game":
        """The game after a move, seen by the other player, whose turn it is then."""
        if move.end == "left":
            taken, rest = self.coins[: move.count], self.coins[move.count :]
        else:
            taken, rest = self.coins[-move.count :], self.coins[: -move.count]
        return Game(rest, -(self.lead + sum(taken)))
