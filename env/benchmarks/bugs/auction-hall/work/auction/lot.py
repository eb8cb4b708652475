# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A lot and the bids on it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Optional

from .errors import BidTooLow, LotClosed


@dataclass(frozen=True)
class Bid:
    bidder: str
    amount: int


@dataclass
class Lot:
    """A lot. Every accepted bid is at least `step` above the one before it, the first at least `reserve`."""

    name: str
    reserve: int
    step: int = 10
    open: bool = True
    bids: List[Bid] = field(default_factory=list)

    @property
    def best(self) -> Optional[Bid]:
        return self.bids[-1] if self.bids else None

    @property
    def least(self) -> int:
        """The least amount the next bid must offer."""
        return self.best.amount + self.step if self.best else self.reserve

    def require(self, amount: int) -> None:
        """Raise if a bid of this amount cannot be accepted as things stand."""
        if not self.open:
            raise LotClosed(self.name)
        if amount < self.least:
            raise BidTooLow(f"{self.name}: {amount} is less than {self.least}")

    def add(self, bid: Bid) -> None:
        self.bids.append(bid)
