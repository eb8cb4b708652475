# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Where seeded players start."""
from __future__ import annotations

from typing import List


def bracket_size(players: int) -> int:
    """The smallest power of two that holds all players, at least 2."""
    size = 2
    while size < players:
        size *= 2
    return size


def seed_order(size: int) -> List[int]:
    """Seeds from the top of the draw to its bottom.

    If the better seed wins every match, then in each round the best remaining
    seed meets the worst: size 4 gives [1, 4, 2, 3].
    """
    order = [1]
    while len(order) < size:
        last = 2 * len(order) + 1
        order = [seed for best in order for seed in (best, last - best)]
    return order
