# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bookings."""
from __future__ import annotations

from .cards import canonical
from .locks import LockTable
from .store import Store


class NotEnough(Exception):
    """The card has fewer points than are to be taken from it."""


class Desk:
    """Books points on cards. Any number of bookings may run at the same time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.locks = LockTable()

    async def balance(self, card: str) -> int:
        return await self._store.load(card)

    async def earn(self, card: str, points: int) -> int:
        """Add points; return the new balance."""
        if points <= 0:
            raise ValueError("points must be positive")
        async with self.locks.holding(card):
            return await self._change(card, points)

    async def spend(self, card: str, points: int) -> int:
        """Take points away; return the new balance, or raise NotEnough and change nothing."""
        if points <= 0:
            raise ValueError("points must be positive")
        async with self.locks.holding(card):
            return await self._change(card, -points)

    async def transfer(self, giver: str, taker: str, points: int) -> None:
        """Move points from one card to another, or raise NotEnough and change nothing."""
        if canonical(giver) == canonical(taker):
            raise ValueError("a transfer needs two cards")
        if points <= 0:
            raise ValueError("points must be positive")
        async with self.locks.holding(giver, taker):
            await self._change(giver, -points)
            await self._change(taker, points)

    async def _change(self, card: str, difference: int) -> int:
        balance = await self._store.load(card) + difference
        if balance < 0:
            raise NotEnough(f"{card} lacks {-balance} points")
        await self._store.save(card, balance)
        return balance
