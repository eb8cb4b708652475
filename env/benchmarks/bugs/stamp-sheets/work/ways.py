# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Counting."""
from __future__ import annotations

from typing import Dict, Optional, Tuple

Kinds = Tuple[Tuple[int, int], ...]


def count_ways(amount: int, kinds: Kinds) -> int:
    """How many sets of coins make up the amount, with (value, number at hand) for each kind."""
    known: Dict[int, int] = {}

    def ways(rest: int, index: int) -> int:
        if rest == 0:
            return 1
        if index == len(kinds):
            return 0
        if rest not in known:
            value, stock = kinds[index]
            most = min(stock, rest // value)
            known[rest] = sum(ways(rest - value * n, index + 1) for n in range(most + 1))
        return known[rest]

    return ways(amount, 0)


def fewest(amount: int, kinds: Kinds) -> Optional[int]:
    """The least number of coins that make up the amount, or None."""
    known: Dict[Tuple[int, int], Optional[int]] = {}

    def least(rest: int, index: int) -> Optional[int]:
        if rest == 0:
            return 0
        if index == len(kinds):
            return None
        key = (rest, index)
        if key not in known:
            value, stock = kinds[index]
            found = []
            for n in range(min(stock, rest // value) + 1):
                others = least(rest - value * n, index + 1)
                if others is not None:
                    found.append(n + others)
            known[key] = min(found, default=None)
        return known[key]

    return least(amount, 0)
