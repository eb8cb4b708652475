# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The rules by which coupons are refused. Each rule gives a reason or None."""
from __future__ import annotations

from typing import Callable, List, Optional

from coupons.model import Basket, Coupon

Rule = Callable[[Basket, Coupon], Optional[str]]


def enough_bought(basket: Basket, coupon: Coupon) -> Optional[str]:
    """The articles covered must reach the minimum."""
    covered = sum(line.total for line in basket.lines if coupon.covers(line))
    if covered == 0:
        return "nothing to use it on"
    return "minimum not reached" if covered < coupon.minimum else None


def only_once(basket: Basket, coupon: Coupon) -> Optional[str]:
    """The same code counts once unless it is stackable."""
    if coupon.stackable():
        return None
    return "used already" if any(c.code == coupon.code for c in basket.accepted) else None


def alone_stays_alone(basket: Basket, coupon: Coupon) -> Optional[str]:
    """A coupon that is not shareable neither joins other coupons nor lets others join it."""
    together = basket.accepted + [coupon]
    if len(together) == 1 or all(each.shareable for each in together):
        return None
    return "not with other offers"


RULES: List[Rule] = [enough_bought, only_once, alone_stays_alone]
