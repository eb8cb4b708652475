# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The machine: coins in, goods out."""
from __future__ import annotations

from typing import List, Tuple

from .coins import CoinBox, NoChange
from .shelf import Shelf


class Machine:
    """Takes coins and sells goods.

    The coins a customer has put in are kept apart until something is sold; `cancel` gives exactly them back.
    """

    def __init__(self, box: CoinBox, shelf: Shelf) -> None:
        self.box = box
        self.shelf = shelf
        self.takings = 0
        self._inserted: List[int] = []

    @property
    def credit(self) -> int:
        return sum(self._inserted)

    def insert(self, coin: int) -> int:
        """Put a coin in; return the credit."""
        self._inserted.append(coin)
        return self.credit

    def cancel(self) -> List[int]:
        """Give the coins back."""
        coins, self._inserted = self._inserted, []
        return coins

    def buy(self, label: str) -> Tuple[str, List[int]]:
        """Sell; return the name of the goods and the change, which may use the coins just put in.

        If there is no change the sale does not take place and the credit stays.
        """
        slot = self.shelf.slot(label)
        if self.credit < slot.price:
            raise ValueError(f"{slot.price - self.credit} more needed")
        credit, coins = self.credit, self._inserted
        self.box.put(coins)
        try:
            change = self.box.pay_out(credit - slot.price)
        except NoChange:
            self.box.remove(coins)
            raise
        self._inserted = []
        slot.count -= 1
        self.takings += slot.price
        return slot.name, change
