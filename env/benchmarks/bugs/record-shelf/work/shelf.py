# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A shelf of records, sorted as record shops do."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, List

from sorting import sort_name


@dataclass(frozen=True)
class Record:
    """A record of an artist."""

    artist: str
    title: str
    year: int


class Shelf:
    """Records by artist, then by year, then by title."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records: List[Record] = list(records)

    def add(self, record: Record) -> None:
        self._records.append(record)

    def in_order(self) -> List[Record]:
        return sorted(self._records, key=lambda r: (sort_name(r.artist), r.year, sort_name(r.title)))

    def artists(self) -> List[str]:
        """The artists, each once, in order."""
        return list(dict.fromkeys(record.artist for record in self.in_order()))

    def dividers(self) -> Dict[str, List[str]]:
        """The artists below the letter they stand at; "#" for what does not begin with a letter."""
        result: Dict[str, List[str]] = {}
        for artist in self.artists():
            first = sort_name(artist)[:1].upper()
            result.setdefault(first if first.isalpha() else "#", []).append(artist)
        return result
