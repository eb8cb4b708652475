# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Skat: 32 cards."""
from __future__ import annotations

from cards.base import Deck, suits


def _product(ranks: tuple) -> tuple:
    return tuple(suit + rank for suit in suits for rank in ranks)


class SkatDeck(Deck):
    """Sevens and up; ten and ace count most."""

    name = "skat"
    ranks = ("7", "8", "9", "J", "Q", "K", "10", "A")
    values = dict(zip(ranks, (0, 0, 0, 2, 3, 4, 10, 11)))
    cards = _product(ranks)
