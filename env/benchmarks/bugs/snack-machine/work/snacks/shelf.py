# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The goods."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict


@dataclass
class Slot:
    """Goods of one kind."""

    name: str
    price: int
    count: int


class SoldOut(Exception):
    """The slot is empty."""


class Shelf:
    """Slots by their label."""

    def __init__(self) -> None:
        self._slots: Dict[str, Slot] = {}

    def fill(self, label: str, name: str, price: int, count: int) -> None:
        if price % 10:
            raise ValueError("prices are multiples of 10")
        self._slots[label] = Slot(name, price, count)

    def slot(self, label: str) -> Slot:
        """The slot, which SHALL have something in it."""
        slot = self._slots[label]
        if slot.count == 0:
            raise SoldOut(label)
        return slot
