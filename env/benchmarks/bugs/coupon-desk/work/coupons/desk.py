# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The till's view of coupons."""
from __future__ import annotations

from typing import Dict, Iterable, List, Optional

from coupons.model import Basket, Coupon
from coupons.pricing import combinable, to_pay
from coupons.rules import RULES


class Desk:
    """Knows all coupons and accepts them into baskets."""

    def __init__(self, coupons: Iterable[Coupon]) -> None:
        self._coupons: Dict[str, Coupon] = {coupon.code: coupon for coupon in coupons}

    def offer(self, basket: Basket, code: str) -> Optional[str]:
        """Accept the coupon into the basket, or say why not."""
        coupon = self._coupons.get(code.strip().upper())
        if coupon is None:
            return "unknown code"
        for rule in RULES:
            reason = rule(basket, coupon)
            if reason is not None:
                return reason
        basket.accepted.append(coupon)
        return None

    def best_pair(self, basket: Basket, codes: Iterable[str]) -> List[str]:
        """The one or two codes that save most on the lines of the basket (fewest codes, then first ones, if equal)."""
        usable = [self._coupons[code] for code in codes if code in self._coupons]
        choices = [[one] for one in usable]
        choices += [[a, b] for i, a in enumerate(usable) for b in usable[i + 1:]]
        best: List[Coupon] = []
        lowest = basket.total
        for choice in choices:
            due = to_pay(Basket(basket.lines, choice))
            if combinable(choice) and due < lowest:
                best, lowest = choice, due
        return [coupon.code for coupon in best]
