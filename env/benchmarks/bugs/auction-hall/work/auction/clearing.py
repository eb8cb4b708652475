# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Clearing of bidders."""
from __future__ import annotations

from typing import Dict

from .errors import BidRefused


class CreditLines:
    """Clears a bidder by a credit line known in advance."""

    def __init__(self, lines: Dict[str, int]) -> None:
        self._lines = dict(lines)

    def __call__(self, bidder: str, amount: int) -> None:
        """Raise BidRefused unless the bidder is good for the amount."""
        if amount > self._lines.get(bidder, 0):
            raise BidRefused(f"{bidder} is not good for {amount}")
