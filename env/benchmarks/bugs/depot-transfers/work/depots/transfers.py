# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Transfers between depots."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, List, Tuple

from .depot import Depot
from .gates import gates


@dataclass(frozen=True)
class Transfer:
    """Goods that were moved."""

    source: str
    target: str
    article: str
    count: int


class Transfers:
    """Moves goods. Any number of transfers and counts can be under way at the same time."""

    def __init__(self, depots: Iterable[Depot]) -> None:
        self._depots: Dict[str, Depot] = {depot.name: depot for depot in depots}
        self.done: List[Transfer] = []

    async def move(self, source: str, target: str, article: str, count: int) -> None:
        """Move goods from depot to depot; nobody sees the goods in neither or in both of them."""
        start, end = self._depots[source], self._depots[target]
        async with gates([start, end]):
            await start.load(article, count)
            await end.unload(article, count)
            self.done.append(Transfer(source, target, article, count))

    async def collect(self, target: str, parts: List[Tuple[str, int]], article: str) -> None:
        """Move goods of several depots to one, all or nothing."""
        depots = [self._depots[name] for name, _ in parts]
        end = self._depots[target]
        async with gates([*depots, end]):
            for depot, (_, count) in zip(depots, parts):
                if depot.count(article) < count:
                    raise ValueError(f"{depot.name} has too few {article}")
            for depot, (name, count) in zip(depots, parts):
                await depot.load(article, count)
                await end.unload(article, count)
                self.done.append(Transfer(name, target, article, count))

    async def census(self, names: Iterable[str]) -> int:
        """All goods of some depots, counted while none of them moves."""
        depots = [self._depots[name] for name in names]
        async with gates(depots):
            return sum(depot.total() for depot in depots)
