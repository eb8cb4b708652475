# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Adverts and results."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Advert:
    """A bid in cents for a click, and a quality from 1 to 10."""

    name: str
    owner: str
    bid: int
    quality: int = 5

    @property
    def score(self) -> int:
        return self.bid * self.quality


@dataclass(frozen=True)
class Placement:
    """An advert in a place (from 1) with the price of a click."""

    place: int
    advert: Advert
    price: int
