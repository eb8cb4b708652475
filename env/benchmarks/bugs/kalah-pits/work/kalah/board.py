# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The board and sowing."""
from __future__ import annotations

from typing import List, Optional, Sequence

PITS = 6
STORES = (PITS, 2 * PITS + 1)
SIZE = 2 * PITS + 2


def own_pits(player: int) -> range:
    """Positions of a player's pits, in sowing order."""
    first = player * (PITS + 1)
    return range(first, first + PITS)


def opposite(position: int) -> int:
    """The pit on the other side of the board."""
    return 2 * PITS - position


class Board:
    """Seeds by position.

    Positions 0 to 5 are the pits of player 0, 6 is the store of player 0,
    7 to 12 are the pits of player 1, and 13 is the store of player 1. Sowing
    goes up and from 13 on to 0.
    """

    def __init__(self, seeds: Optional[Sequence[int]] = None) -> None:
        """Four seeds in each pit, or the seeds given for all 14 positions."""
        start = [4] * PITS + [0]
        self.seeds: List[int] = list(seeds) if seeds is not None else start * 2
        if len(self.seeds) != SIZE:
            raise ValueError("need %d positions" % SIZE)

    def sow(self, player: int, pit: int) -> int:
        """Empty a pit and put its seeds one by one into the positions after it.

        The store of the other player is left out. Returns the position that
        got the last seed.
        """
        lap = [position for position in range(SIZE) if position != STORES[1 - player]]
        start = lap.index(pit)
        count, self.seeds[pit] = self.seeds[pit], 0
        for step in range(start + 1, start + count + 1):
            self.seeds[lap[step % len(lap)]] += 1
        return (pit + count) % SIZE

    def move_to_store(self, player: int, positions: Sequence[int]) -> int:
        """Move all seeds of some positions to a store; returns how many."""
        count = sum(self.seeds[position] for position in positions)
        for position in positions:
            self.seeds[position] = 0
        self.seeds[STORES[player]] += count
        return count

    def side(self, player: int) -> int:
        """How many seeds are in a player's pits."""
        return sum(self.seeds[position] for position in own_pits(player))
