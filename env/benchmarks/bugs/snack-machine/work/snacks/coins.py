# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The coin box."""
from __future__ import annotations

from typing import Dict, Iterable, List, Mapping

VALUES = (200, 100, 50, 20, 10)


class NoChange(Exception):
    """The amount cannot be paid with the coins of the box."""


class CoinBox:
    """Coins by value."""

    def __init__(self, coins: Mapping[int, int] = {}) -> None:
        self._coins: Dict[int, int] = {value: coins.get(value, 0) for value in VALUES}

    def total(self) -> int:
        return sum(value * count for value, count in self._coins.items())

    def count(self, value: int) -> int:
        return self._coins[value]

    def put(self, coins: Iterable[int]) -> None:
        """Put coins in."""
        for coin in coins:
            if coin not in self._coins:
                raise ValueError(f"not a coin: {coin}")
            self._coins[coin] += 1

    def remove(self, coins: Iterable[int]) -> None:
        """Take just these coins out."""
        for coin in coins:
            self._coins[coin] -= 1

    def pay_out(self, amount: int) -> List[int]:
        """Take coins of this amount out, large ones first.

        If the amount does not come out even that way, NoChange SHALL be raised and nothing happens.
        """
        paid: List[int] = []
        for value in VALUES:
            count = min(amount // value, self._coins[value])
            self._coins[value] -= count
            paid += [value] * count
            amount -= value * count
        if amount:
            raise NoChange(amount)
        return paid
