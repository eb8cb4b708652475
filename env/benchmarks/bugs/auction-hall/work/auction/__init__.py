# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""An auction hall: many clerks enter bids at the same time."""
from __future__ import annotations

from .errors import BidRefused, BidTooLow, LotClosed, UnknownLot
from .hall import Hall
from .lot import Bid, Lot

__all__ = ["Bid", "BidRefused", "BidTooLow", "Hall", "Lot", "LotClosed", "UnknownLot"]
