# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The table."""
from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

from routing.prefixes import Prefix, parse_address


@dataclass(frozen=True)
class Route:
    """A way to a network: the next hop and what using it costs."""

    prefix: Prefix
    hop: str
    cost: int


class RouteTable:
    """Routes by network.

    The most specific network that covers an address is used, of its routes
    the cheapest, and of equally cheap ones that announced first.
    """

    def __init__(self) -> None:
        self._heaps: Dict[Prefix, List[Tuple[int, Route]]] = {}

    def announce(self, network: str, hop: str, cost: int = 1) -> None:
        """Add a route. A hop already known for the network gets the new cost
        and counts as announced now."""
        prefix = Prefix.parse(network)
        self._forget(prefix, hop)
        heap = self._heaps.setdefault(prefix, [])
        heapq.heappush(heap, (cost, Route(prefix, hop, cost)))

    def withdraw(self, network: str, hop: str) -> bool:
        """Remove a route; tells whether it was known."""
        return self._forget(Prefix.parse(network), hop)

    def link_down(self, hop: str) -> int:
        """Remove all routes over a hop; returns how many there were."""
        return sum(self._forget(prefix, hop) for prefix in list(self._heaps))

    def lookup(self, address: str) -> Optional[Route]:
        """The route to use for an address, None if there is none."""
        number = parse_address(address)
        covering = [p for p in self._heaps if p.covers(number)]
        if not covering:
            return None
        return self._heaps[max(covering, key=lambda p: p.length)][0][-1]

    def alternatives(self, network: str) -> List[str]:
        """Hops of the routes to exactly this network, best first."""
        return [entry[-1].hop for entry in sorted(self._heaps.get(Prefix.parse(network), ()))]

    def _forget(self, prefix: Prefix, hop: str) -> bool:
        heap = self._heaps.get(prefix, [])
        rest = [entry for entry in heap if entry[-1].hop != hop]
        if len(rest) == len(heap):
            return False
        if rest:
            heapq.heapify(rest)
            self._heaps[prefix] = rest
        else:
            del self._heaps[prefix]
        return True


def load(text: str) -> RouteTable:
    """Build a table from lines `network hop [cost]`; `#` starts a comment."""
    table = RouteTable()
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            network, hop, *cost = words
            table.announce(network, hop, *map(int, cost))
    return table
