# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Where the balances are kept."""
from __future__ import annotations

import asyncio

from .cards import canonical


class Store:
    """Balances by card number, behind a network: each call takes a moment."""

    def __init__(self) -> None:
        self._balances: dict[str, int] = {}
        self.writes = 0

    async def load(self, card: str) -> int:
        """The balance of a card; a new card has 0."""
        await asyncio.sleep(0)
        return self._balances.get(canonical(card), 0)

    async def save(self, card: str, balance: int) -> None:
        await asyncio.sleep(0)
        self._balances[canonical(card)] = balance
        self.writes += 1
