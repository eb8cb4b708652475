# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Payment."""
from __future__ import annotations

import asyncio
from typing import Dict, Set


class Declined(Exception):
    """The bank does not pay."""


class Bank:
    """Charges customers; takes a moment."""

    def __init__(self, poor: Set[str] = frozenset()) -> None:  # type: ignore[assignment]
        self._poor = set(poor)
        self.paid: Dict[str, int] = {}

    async def charge(self, customer: str, amount: int) -> None:
        await asyncio.sleep(0)
        if customer in self._poor:
            raise Declined(customer)
        self.paid[customer] = self.paid.get(customer, 0) + amount
        await asyncio.sleep(0)
