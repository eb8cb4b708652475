# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What tickets cost."""
from __future__ import annotations

from typing import Dict, List

from tickets.groups import GROUPS, group_of
from tickets.visitors import Visitor

FULL = 1200
_PER_CENT: Dict[str, int] = {"infant": 0, "child": 40, "student": 50, "senior": 75}
_missing: List[str] = [name for name in GROUPS if name not in _PER_CENT]
if _missing:
    raise RuntimeError("no price for " + ", ".join(_missing))


def price_of_group(name: str) -> int:
    """The price in cents; groups not known pay in full."""
    return FULL * _PER_CENT.get(name, 100) // 100


def price(visitor: Visitor) -> int:
    """The price for a visitor."""
    return price_of_group(group_of(visitor))


def family_price(visitors: List[Visitor]) -> int:
    """The sum, but never more than two and a half full tickets for families of up to two adults."""
    total = sum(price(visitor) for visitor in visitors)
    adults = sum(1 for visitor in visitors if visitor.age >= 16)
    return min(total, FULL * 5 // 2) if adults <= 2 else total
