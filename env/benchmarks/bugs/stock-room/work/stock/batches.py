# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Deliveries and what is left of them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass
class Batch:
    """What is left of one delivery of an article."""

    code: str
    left: int
    best_before: int


class Bin:
    """The batches of one article, those that expire first at the front.

    A batch that is used up is not in the bin any more.
    """

    def __init__(self) -> None:
        self._batches: List[Batch] = []

    def put(self, batch: Batch) -> None:
        """Put a delivery in its place; of equal dates the earlier delivery goes first."""
        if batch.left > 0:
            self._batches.append(batch)
            self._batches.sort(key=lambda b: b.best_before)

    @property
    def available(self) -> int:
        """How many pieces there are."""
        return sum(batch.left for batch in self._batches)

    def codes(self) -> List[str]:
        """Codes of the batches, front first."""
        return [batch.code for batch in self._batches]

    def take(self, count: int) -> List[Batch]:
        """Take up to `count` pieces, those that expire first.

        Returns the parts taken, one for each batch, in the order taken.
        """
        parts = []
        for batch in self._batches:
            if not count:
                break
            part = min(count, batch.left)
            parts.append(Batch(batch.code, part, batch.best_before))
            batch.left -= part
            count -= part
            if not batch.left:
                self._batches.remove(batch)
        return parts

    def discard_expired(self, day: int) -> List[Batch]:
        """Remove and return all batches whose best-before day is before `day`."""
        expired = [batch for batch in self._batches if batch.best_before < day]
        self._batches = [batch for batch in self._batches if batch.best_before >= day]
        return expired
