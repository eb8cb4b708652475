# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Splitting amounts."""
from __future__ import annotations

from fractions import Fraction
from typing import List, Sequence


def split(cents: int, weights: Sequence[int]) -> List[int]:
    """Whole shares of an amount, in proportion to the weights, that add up to the amount.

    Every share is the exact one, rounded down or up. Those with the largest part cut off are rounded up;
    if equal, those that come first. A weight of zero gets nothing. A negative amount is shared like the
    positive one, with the signs changed.
    """
    total = sum(weights)
    if total <= 0 or min(weights) < 0:
        raise ValueError("weights must be positive")
    exact = [Fraction(cents * weight, total) for weight in weights]
    return [round(share) for share in exact]
