# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Fingerprints in a tree by their differences.

All prints below a branch numbered d differ in d bits from the print at which
the branch begins.
"""
from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from twins.fingerprint import difference


class _Node:
    __slots__ = ("print", "branches")

    def __init__(self, print_: int) -> None:
        self.print = print_
        self.branches: Dict[int, "_Node"] = {}


class PrintTree:
    """A set of fingerprints that can be asked for those near another one."""

    def __init__(self) -> None:
        self._root: Optional[_Node] = None

    def add(self, print_: int) -> None:
        """Add a fingerprint; adding it again changes nothing."""
        if self._root is None:
            self._root = _Node(print_)
        node = self._root
        while node.print != print_:
            node = node.branches.setdefault(difference(node.print, print_), _Node(print_))

    def near(self, print_: int, tolerance: int) -> List[Tuple[int, int]]:
        """Difference and print of all that differ in at most `tolerance` bits, nearest first."""
        found: List[Tuple[int, int]] = []
        waiting = [self._root] if self._root else []
        while waiting:
            node = waiting.pop()
            d = difference(node.print, print_)
            if d <= tolerance:
                found.append((d, node.print))
            low, high = d - tolerance, d + tolerance
            waiting.extend(child for key, child in node.branches.items() if key in range(low, high))
        return sorted(found)
