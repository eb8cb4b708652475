# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The stock room: bins by article, and orders."""
from __future__ import annotations

from typing import Dict, List, Mapping, Tuple

from stock.batches import Batch, Bin

Picked = Tuple[str, str, int]


class Short(Exception):
    """There is not enough of an article."""

    def __init__(self, article: str, missing: int) -> None:
        super().__init__("short of %s: %d missing" % (article, missing))
        self.article = article
        self.missing = missing


class StockRoom:
    """Articles in their bins."""

    def __init__(self) -> None:
        self._bins: Dict[str, Bin] = {}

    def deliver(self, article: str, code: str, count: int, best_before: int) -> None:
        """Store a delivery."""
        self._bins.setdefault(article, Bin()).put(Batch(code, count, best_before))

    def pick(self, order: Mapping[str, int]) -> List[Picked]:
        """Take the goods of an order: (article, batch code, pieces).

        If there is not enough of an article, Short is raised and nothing is taken.
        """
        stock = self.report()
        for article, wanted in order.items():
            missing = wanted - stock.get(article, 0)
            if missing > 0:
                raise Short(article, missing)
        return [
            (article, part.code, part.left)
            for article, wanted in order.items()
            if wanted
            for part in self._bins[article].take(wanted)
        ]

    def clean(self, day: int) -> Dict[str, int]:
        """Throw away what is past its date; returns the pieces thrown away by article."""
        thrown = {}
        for article, bin_ in self._bins.items():
            count = sum(batch.left for batch in bin_.discard_expired(day))
            if count:
                thrown[article] = count
        return thrown

    def report(self) -> Dict[str, int]:
        """Pieces of each article in stock."""
        return {article: bin_.available for article, bin_ in self._bins.items() if bin_.available}

    def codes(self, article: str) -> List[str]:
        """Batches of an article in the order in which they will be used."""
        return self._bins[article].codes() if article in self._bins else []
