# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Discounts."""
from __future__ import annotations

from typing import List, Tuple

from .customers import Customer

LEVELS: List[Tuple[int, int]] = [(1000_00, 10), (300_00, 5), (0, 0)]


def percent_for(customer: Customer) -> int:
    """The discount of the highest level the customer has reached."""
    for amount, percent in LEVELS:
        if customer.reached(amount):
            return percent
    return 0
