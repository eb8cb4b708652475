# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""States kept so that long histories need not be replayed from the start."""
from __future__ import annotations

from copy import deepcopy
from typing import Dict, List, Tuple

from loans.events import State, blank


class Snapshots:
    """States of accounts at some versions (numbers of events)."""

    def __init__(self) -> None:
        self._kept: Dict[str, List[Tuple[int, State]]] = {}

    def keep(self, member: str, version: int, state: State) -> None:
        """Remember a state; versions known already are left as they are."""
        kept = self._kept.setdefault(member, [])
        if all(version != known for known, _ in kept):
            kept.append((version, deepcopy(state)))
            kept.sort(key=lambda pair: pair[0])

    def latest(self, member: str, version: int) -> Tuple[int, State]:
        """The newest state kept that is not after `version`, with its version.

        The caller may change the state. Without a suitable one: a blank
        account at version 0.
        """
        for known, state in reversed(self._kept.get(member, [])):
            if known <= version:
                return known, dict(state)
        return 0, blank()
