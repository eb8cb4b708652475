# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Code trees."""
from __future__ import annotations

import heapq
from collections import Counter
from typing import Dict, Tuple, Union

Tree = Union[str, Tuple["Tree", "Tree"]]


def build(text: str) -> Tree:
    """The tree for a text that is not empty: a character, or a pair of trees."""
    heap = [(n, order, c) for order, (c, n) in enumerate(sorted(Counter(text).items()))]
    heapq.heapify(heap)
    order = len(heap)
    while len(heap) > 1:
        n, _, left = heapq.heappop(heap)
        m, _, right = heapq.heappop(heap)
        heapq.heappush(heap, (n + m, order, (left, right)))
        order += 1
    return heap[0][2]


def codes(tree: Tree) -> Dict[str, str]:
    """The code of each character, as zeros and ones. Every code has a digit at least."""
    found: Dict[str, str] = {}

    def visit(node: Tree, code: str) -> None:
        if isinstance(node, str):
            found[node] = code
        else:
            visit(node[0], code + "0")
            visit(node[1], code + "1")

    visit(tree, "")
    return found
