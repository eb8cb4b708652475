# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""People and their groups."""
from __future__ import annotations

from typing import Dict, Iterable, List


class People:
    """The groups of each person; everybody is in the group `all`."""

    def __init__(self) -> None:
        self._groups: Dict[str, List[str]] = {}

    def enter(self, person: str, groups: Iterable[str]) -> None:
        self._groups.setdefault(person, []).extend(groups)

    def groups(self, person: str) -> List[str]:
        """The groups in the order they were entered, `all` last."""
        return self._groups.get(person, []) + ["all"]
