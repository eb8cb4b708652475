# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The program of the cash desk."""
from __future__ import annotations

from typing import List

from tickets.prices import family_price, price
from tickets.groups import group_of
from tickets.visitors import parse_visitor


def sell(lines: List[str]) -> List[str]:
    """The tickets for visitors who come together, and the sum to pay."""
    visitors = [parse_visitor(line) for line in lines]
    tickets = ["%s %.2f" % (group_of(visitor), price(visitor) / 100) for visitor in visitors]
    return tickets + ["to pay %.2f" % (family_price(visitors) / 100)]
