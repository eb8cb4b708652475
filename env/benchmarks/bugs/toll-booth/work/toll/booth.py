# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The booth."""
from __future__ import annotations

from typing import Dict, List, Mapping, Optional

from toll.box import CoinBox
from toll.change import fewest_coins

TARIFFS = {"motorbike": 150, "car": 280, "van": 430, "lorry": 990}


class Refused(Exception):
    """The payment cannot be accepted; the coins are given back."""


class Booth:
    """Takes payments; what is put in may be used for change at once."""

    def __init__(self, box: CoinBox, tariffs: Optional[Mapping[str, int]] = None) -> None:
        self._box = box
        self._tariffs = dict(tariffs or TARIFFS)
        self.log: List[str] = []

    def pay(self, kind: str, coins: Mapping[int, int]) -> Dict[int, int]:
        """Take coins for a vehicle; the change. Refused if it is too little or there is no change."""
        price = self._tariffs[kind]
        paid = sum(value * number for value, number in coins.items())
        if paid < price:
            raise Refused("%d missing" % (price - paid))
        self._box.put(coins)
        change = fewest_coins(paid - price, self._box.coins)
        if change is None:
            self._box.take(coins)
            raise Refused("no change")
        self._box.take(change)
        self.log.append("%s %d" % (kind, price))
        return change

    def can_change(self, amount: int) -> bool:
        """Whether the amount could be given out now."""
        return fewest_coins(amount, self._box.coins) is not None

    def warnings(self, amounts: List[int]) -> List[int]:
        """Those of the amounts that could not be given out now."""
        return [amount for amount in amounts if not self.can_change(amount)]
