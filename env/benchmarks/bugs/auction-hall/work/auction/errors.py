# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What can go wrong with a bid."""
from __future__ import annotations


class BidRefused(Exception):
    """The bid does not count."""


class BidTooLow(BidRefused):
    """The bid is below the least that is accepted."""


class LotClosed(BidRefused):
    """The hammer has fallen."""


class UnknownLot(KeyError):
    """There is no such lot."""
