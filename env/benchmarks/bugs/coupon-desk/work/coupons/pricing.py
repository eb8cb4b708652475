# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What is to be paid."""
from __future__ import annotations

from typing import List

from coupons.model import Basket, Coupon


def saving(basket: Basket, coupon: Coupon, due: int) -> int:
    """What one coupon takes off; never more than is still due."""
    covered = sum(line.total for line in basket.lines if coupon.covers(line))
    amount = covered * coupon.percent // 100 if coupon.percent else coupon.cents
    return min(amount, covered, due)


def combinable(coupons: List[Coupon]) -> bool:
    """Whether coupons may stand in one basket as far as sharing goes."""
    return len(coupons) < 2 or all(each.shareable() for each in coupons)


def to_pay(basket: Basket) -> int:
    """The total less all savings, coupons in the order they were accepted."""
    due = basket.total
    for coupon in basket.accepted:
        due -= saving(basket, coupon, due)
    return due
