# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tarock: 22 trumps and eight cards of each suit."""
from __future__ import annotations

from cards.base import Deck, ranks, suits


class TarockDeck(Deck):
    """Trumps T1 to T22 and, in each suit, sevens to aces."""

    name = "tarock"
    ranks = ("7", "8", "9", "10", "J", "Q", "K", "A")
    trumps = tuple("T" + str(number) for number in range(1, 23))
    values = dict(zip(ranks, (1, 1, 1, 1, 2, 3, 4, 5)))
    cards = trumps + tuple(suit + rank for suit in suits for rank in ranks)
