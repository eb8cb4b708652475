# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Start games."""
from __future__ import annotations

from typing import Dict, List, Type

from cards.base import Deck
from cards.skat import SkatDeck
from cards.tarock import TarockDeck

DECKS: Dict[str, Type[Deck]] = {deck.name: deck for deck in (Deck, SkatDeck, TarockDeck)}


def new_game(name: str, players: int, each: int, seed: int) -> List[List[str]]:
    """Hands and, last, the cards that remain."""
    deck = DECKS[name]()
    deck.shuffle(seed)
    hands = deck.deal(players, each)
    return hands + deck.deal(1, len(deck))
