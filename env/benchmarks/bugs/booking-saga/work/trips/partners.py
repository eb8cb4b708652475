# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The companies we book with, for tests and demonstrations."""
from __future__ import annotations

from typing import Dict, Set


class Refused(Exception):
    """A company says no."""


class Company:
    """Sells places; may be told to refuse bookings or cancellations."""

    def __init__(self, name: str, places: int = 10) -> None:
        self.name = name
        self.places = places
        self.refuses_cancelling = False
        self.booked: Set[str] = set()

    def book(self, customer: str) -> None:
        if len(self.booked) >= self.places:
            raise Refused(f"{self.name} is full")
        self.booked.add(customer)

    def cancel(self, customer: str) -> None:
        if self.refuses_cancelling:
            raise Refused(f"{self.name} does not cancel")
        self.booked.remove(customer)


class Cards:
    """Charges cards."""

    def __init__(self) -> None:
        self.charged: Dict[str, int] = {}

    def charge(self, customer: str, amount: int) -> None:
        self.charged[customer] = self.charged.get(customer, 0) + amount

    def refund(self, customer: str, amount: int) -> None:
        self.charge(customer, -amount)
