# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Printing orders."""
from __future__ import annotations

from typing import List

from .orders import Order


def money(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def print_order(order: Order) -> List[str]:
    """The lines of the printed order; discounts of nothing are not shown."""
    result = [f"Order {order.number} for {order.customer.label}"]
    result += [f"{count} x {article}: {money(count * price)}" for article, count, price in order.lines]
    if order.discount:
        result.append(f"Discount: -{money(order.discount)}")
    result.append(f"Total: {money(order.total)}")
    return result
