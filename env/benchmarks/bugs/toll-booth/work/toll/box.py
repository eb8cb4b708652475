# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The coin box."""
from __future__ import annotations

from typing import Dict, Mapping


class CoinBox:
    """Numbers of coins by value in cents."""

    def __init__(self, coins: Mapping[int, int]) -> None:
        self.coins: Dict[int, int] = dict(coins)

    def put(self, coins: Mapping[int, int]) -> None:
        for value, number in coins.items():
            self.coins[value] = self.coins.get(value, 0) + number

    def take(self, coins: Mapping[int, int]) -> None:
        for value, number in coins.items():
            self.coins[value] -= number

    def total(self) -> int:
        """The value of all coins."""
        return sum(value * number for value, number in self.coins.items())
