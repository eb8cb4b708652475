# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What all decks have in common."""
from __future__ import annotations

import random
from typing import Dict, List, Tuple

suits = ("C", "S", "H", "D")
ranks = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")


class Deck:
    """A full deck. Variants set `ranks`, `trumps`, `values` and `cards`."""

    name = "full"
    ranks = ranks
    trumps: Tuple[str, ...] = ()
    values: Dict[str, int] = {rank: place for place, rank in enumerate(ranks, 2)}
    cards: Tuple[str, ...] = tuple(suit + rank for suit in suits for rank in ranks)

    def __init__(self) -> None:
        self._left: List[str] = list(self.cards)

    def __len__(self) -> int:
        return len(self._left)

    def shuffle(self, seed: int) -> None:
        """Mix the cards that are left."""
        random.Random(seed).shuffle(self._left)

    def deal(self, players: int, each: int) -> List[List[str]]:
        """Give out cards one by one in turn; ValueError if there are not enough."""
        if players * each > len(self._left):
            raise ValueError("not enough cards")
        hands: List[List[str]] = [[] for _ in range(players)]
        for number in range(players * each):
            hands[number % players].append(self._left.pop(0))
        return hands

    @classmethod
    def value(cls, card: str) -> int:
        """What a card counts; trumps count their number."""
        if card in cls.trumps:
            return int(card[1:])
        return cls.values[card[1:]]

    @classmethod
    def count(cls, cards: List[str]) -> int:
        """The sum of card values."""
        return sum(cls.value(card) for card in cards)
