# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The hall: all the lots of an evening."""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from .desk import Clear, Desk
from .errors import UnknownLot
from .lot import Bid, Lot


class Hall:
    """The lots of an evening by name. All methods may be called from any thread."""

    def __init__(self, clear: Clear) -> None:
        self._clear = clear
        self._desks: Dict[str, Desk] = {}

    def offer(self, name: str, reserve: int, step: int = 10) -> None:
        """Put a lot up for bids."""
        self._desks[name] = Desk(Lot(name, reserve, step), self._clear)

    def bid(self, name: str, bidder: str, amount: int) -> Bid:
        """Enter a bid on a lot."""
        return self._desk(name).bid(bidder, amount)

    def history(self, name: str) -> List[Tuple[str, int]]:
        """The bids on a lot that counted, in order."""
        return [(bid.bidder, bid.amount) for bid in self._desk(name).history()]

    def hammer(self, name: str) -> Optional[Bid]:
        """Close a lot and say whose it is."""
        return self._desk(name).close().best

    def _desk(self, name: str) -> Desk:
        if name not in self._desks:
            raise UnknownLot(name)
        return self._desks[name]
