# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Code trees."""
from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple


@dataclass
class Node:
    """A leaf (with a symbol) or a fork (with two children)."""

    symbol: Optional[str] = None
    zero: Optional["Node"] = None
    one: Optional["Node"] = None


def build(text: str) -> Node:
    """The code tree for the symbols of a text."""
    heap: List[Tuple[int, int, Node]] = []
    for order, (symbol, count) in enumerate(sorted(Counter(text).items())):
        heap.append((count, order, Node(symbol)))
    heapq.heapify(heap)
    order = len(heap)
    while len(heap) > 1:
        count, _, zero = heapq.heappop(heap)
        other, _, one = heapq.heappop(heap)
        heapq.heappush(heap, (count + other, order, Node(None, zero, one)))
        order += 1
    return heap[0][2] if heap else Node()


def codes(root: Node) -> Dict[str, str]:
    """The code of each symbol as a string of 0 and 1."""
    found: Dict[str, str] = {}

    def visit(node: Optional[Node], code: str) -> None:
        if node is None:
            return
        if node.symbol is not None:
            found[node.symbol] = code
            return
        visit(node.zero, code + "0")
        visit(node.one, code + "1")

    visit(root, "")
    return found
