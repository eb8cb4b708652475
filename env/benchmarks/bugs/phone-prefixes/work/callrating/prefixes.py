# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A tree of dialling prefixes."""
from __future__ import annotations

from typing import Dict, Iterator, Optional, Tuple


class Node:
    """One digit of a prefix; `tariff` is set where a prefix ends."""

    __slots__ = ("children", "tariff")

    def __init__(self) -> None:
        self.children: Dict[str, Node] = {}
        self.tariff: Optional[str] = None


class PrefixTree:
    """Tariff names by prefix, looked up by the longest prefix that fits."""

    def __init__(self) -> None:
        self._root = Node()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, prefix: str, tariff: str) -> None:
        """Give all numbers below `prefix` the tariff; a later call for the same prefix replaces it."""
        node = self._root
        for digit in prefix:
            node = node.children.setdefault(digit, Node())
        if node.tariff is None:
            self._size += 1
        node.tariff = tariff

    def lookup(self, number: str) -> Tuple[str, Optional[str]]:
        """The longest prefix of `number` with a tariff, and that tariff; ("", None) if there is none."""
        node, best, length = self._root, None, 0
        for position, digit in enumerate(number, 1):
            if child := node.children.get(digit) is None:
                break
            node = child
            if node.tariff is not None:
                best, length = node.tariff, position
        return number[:length], best

    def walk(self) -> Iterator[Tuple[str, str]]:
        """All prefixes with their tariffs in dictionary order."""
        stack = [("", self._root)]
        while stack:
            prefix, node = stack.pop()
            if node.tariff is not None:
                yield prefix, node.tariff
            for digit in sorted(node.children, reverse=True):
                stack.append((prefix + digit, node.children[digit]))
