# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The glossary."""
from __future__ import annotations

from typing import Dict, Iterable, Optional

from .entry import Entry, fold
from .matcher import Matcher


class Glossary:
    """Entries by any of their spellings."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: Dict[str, Entry] = {}
        self._spellings: Dict[str, str] = {}
        for entry in entries:
            for spelling in entry.spellings:
                self._entries[fold(spelling)] = entry
                self._spellings[fold(spelling)] = spelling

    def __getitem__(self, spelling: str) -> Entry:
        return self._entries[fold(spelling)]

    def get(self, spelling: str) -> Optional[Entry]:
        return self._entries.get(fold(spelling))

    def matcher(self) -> Matcher:
        """A matcher for all the spellings."""
        return Matcher(self._spellings.values())
