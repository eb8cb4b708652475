# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What was asked."""
from __future__ import annotations

from collections import Counter
from typing import List, NamedTuple


class Entry(NamedTuple):
    person: str
    action: str
    what: str
    allowed: bool


class Log:
    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self.entries: List[Entry] = []

    def note(self, person: str, action: str, what: str, allowed: bool) -> None:
        self.entries.append(Entry(person, action, what, allowed))
        del self.entries[: -self._most]

    def refused(self) -> "Counter[str]":
        """How often each person was refused."""
        return Counter(entry.person for entry in self.entries if not entry.allowed)
