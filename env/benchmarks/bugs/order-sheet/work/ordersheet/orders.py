# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Orders."""
from __future__ import annotations

from typing import Any, List, Mapping, Tuple

from .customers import Customer, customer
from .discounts import percent_for
from .rows import Row


class Order(Row):
    """An order: columns number and note, a customer, and lines of article, count and price in cents."""

    kind = "order"

    def __init__(self, columns: Mapping[str, Any], buyer: Mapping[str, Any], lines: List[Tuple[str, int, int]]) -> None:
        super().__init__(columns)
        self.customer: Customer = customer(buyer)
        self.lines = lines

    @property
    def subtotal(self) -> int:
        return sum(count * price for _, count, price in self.lines)

    @property
    def discount(self) -> int:
        """What is taken off, in cents; of half a cent the customer gets the whole."""
        return (self.subtotal * percent_for(self.customer) + 50) // 100

    @property
    def total(self) -> int:
        return self.subtotal - self.discount
