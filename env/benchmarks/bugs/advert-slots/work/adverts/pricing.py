# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What a click costs."""
from __future__ import annotations

from typing import List

from adverts.model import Advert


def price_to_beat(advert: Advert, rivals: List[Advert], reserve: int) -> int:
    """The least whole bid with which the advert has a score above the best of the rivals, not below the reserve.

    It is never more than the advert's own bid.
    """
    if not rivals:
        return reserve
    best = max(rival.score for rival in rivals)
    return min(advert.bid, max(reserve, best // advert.quality + 1))
