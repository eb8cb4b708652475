# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The house and its flats."""
from __future__ import annotations

from typing import Dict, Iterable, List, Mapping

from .bill import Bill
from .split import split


class DoesNotClose(Exception):
    """The shares do not add up to the bills."""


class House:
    """Flats by name, each with weights by key."""

    def __init__(self, flats: Mapping[str, Mapping[str, int]]) -> None:
        self._flats = dict(flats)

    def shares(self, bill: Bill) -> Dict[str, int]:
        """The share of each flat in a bill. A flat without a weight for the key has no part in it."""
        weights = [weights.get(bill.key, 0) for weights in self._flats.values()]
        return dict(zip(self._flats, split(bill.cents, weights)))

    def settle(self, bills: Iterable[Bill]) -> Dict[str, int]:
        """What each flat has to pay for all the bills."""
        due = dict.fromkeys(self._flats, 0)
        rows: List[Bill] = list(bills)
        for bill in rows:
            for flat, cents in self.shares(bill).items():
                due[flat] += cents
        if sum(due.values()) != sum(bill.cents for bill in rows):
            raise DoesNotClose(f"{sum(due.values())} is not {sum(bill.cents for bill in rows)}")
        return due
