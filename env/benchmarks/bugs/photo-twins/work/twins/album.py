# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Albums."""
from __future__ import annotations

from typing import Dict, List, Sequence, Set

from twins.fingerprint import fingerprint
from twins.tree import PrintTree


class Album:
    """Photos by name."""

    def __init__(self, tolerance: int = 3) -> None:
        self.tolerance = tolerance
        self._prints: Dict[str, int] = {}
        self._names: Dict[int, List[str]] = {}
        self._tree = PrintTree()

    def add(self, name: str, rows: Sequence[Sequence[int]]) -> None:
        """Add a photo; ValueError if the name is taken."""
        self.add_print(name, fingerprint(rows))

    def add_print(self, name: str, print_: int) -> None:
        """Add a photo whose fingerprint is known."""
        if name in self._prints:
            raise ValueError("name taken: " + name)
        self._prints[name] = print_
        self._names.setdefault(print_, []).append(name)
        self._tree.add(print_)

    def like(self, name: str) -> List[str]:
        """Names of the other photos within the tolerance, most alike first."""
        near = self._tree.near(self._prints[name], self.tolerance)
        return [other for _, print_ in near for other in self._names[print_] if other != name]

    def families(self) -> List[List[str]]:
        """Groups of photos linked by likeness, directly or over others; loners left out. Names are sorted."""
        seen: Set[str] = set()
        result = []
        for name in sorted(self._prints):
            if name in seen:
                continue
            family, waiting = {name}, [name]
            while waiting:
                for other in self.like(waiting.pop()):
                    if other not in family:
                        family.add(other)
                        waiting.append(other)
            seen |= family
            if len(family) > 1:
                result.append(sorted(family))
        return result
