# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The desk of one lot, where bids come in."""
from __future__ import annotations

import threading
from typing import Callable, List

from .lot import Bid, Lot

Clear = Callable[[str, int], None]


class Desk:
    """Takes the bids on one lot from any number of threads.

    A bidder is cleared before the bid counts. Clearing may take its time; it never holds up the bids of
    others nor the hammer. A bid overtaken in the meantime is refused like any bid that comes too late.
    """

    def __init__(self, lot: Lot, clear: Clear) -> None:
        self._lot = lot
        self._clear = clear
        self._lock = threading.Lock()

    def bid(self, bidder: str, amount: int) -> Bid:
        """Enter a bid; returns it once it counts."""
        with self._lock:
            self._lot.require(amount)
        self._clear(bidder, amount)
        bid = Bid(bidder, amount)
        with self._lock:
            self._lot.add(bid)
        return bid

    def close(self) -> Lot:
        """The hammer falls."""
        with self._lock:
            self._lot.open = False
            return self._lot

    def history(self) -> List[Bid]:
        with self._lock:
            return list(self._lot.bids)
