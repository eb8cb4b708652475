# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The seats of a hall."""
from __future__ import annotations

from typing import Dict, List, Optional


class Taken(Exception):
    """The seat is held or sold."""


class Hall:
    """Seats with their prices; each is free, held for somebody or sold to somebody."""

    def __init__(self, prices: Dict[str, int]) -> None:
        self.prices = dict(prices)
        self._held: Dict[str, str] = {}
        self._sold: Dict[str, str] = {}

    def is_free(self, seat: str) -> bool:
        return seat in self.prices and seat not in self._held and seat not in self._sold

    def free_seats(self) -> List[str]:
        return [seat for seat in self.prices if self.is_free(seat)]

    def hold(self, seat: str, customer: str) -> None:
        """Keep a free seat for a customer; Taken if it is not free."""
        if not self.is_free(seat):
            raise Taken(seat)
        self._held[seat] = customer

    def release(self, seat: str) -> None:
        """End the hold of a seat."""
        del self._held[seat]

    def sell(self, seat: str) -> None:
        """Sell a held seat to the one it is held for."""
        self._sold[seat] = self._held.pop(seat)

    def owner(self, seat: str) -> Optional[str]:
        return self._sold.get(seat)
