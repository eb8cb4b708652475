# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A book of chords."""
from __future__ import annotations

from typing import Dict, Iterable, Iterator, List

from .chord import Chord


class Book:
    """Chords sorted by name. Books can be iterated as often as wanted, also inside each other."""

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self._chords: Dict[str, Chord] = {}
        self._queue: List[str] = []
        for line in lines:
            self.add(Chord.parse(line))

    def add(self, chord: Chord) -> None:
        self._chords[chord.name] = chord

    def __len__(self) -> int:
        return len(self._chords)

    def __getitem__(self, name: str) -> Chord:
        return self._chords[name]

    def __iter__(self) -> Iterator[Chord]:
        self._queue = sorted(self._chords, reverse=True)
        return self

    def __next__(self) -> Chord:
        if not self._queue:
            raise StopIteration
        return self._chords[self._queue.pop()]

    def names(self) -> List[str]:
        return [chord.name for chord in self]

    def find(self, fingers: int) -> List[Chord]:
        """The chords that need at most this many fingers."""
        return [chord for chord in self if chord.fingers() <= fingers]
