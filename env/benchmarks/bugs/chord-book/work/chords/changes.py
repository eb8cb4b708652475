# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Changing from chord to chord."""
from __future__ import annotations

from typing import Iterable, Iterator, List, Tuple

from .chord import Chord


def movement(first: Chord, second: Chord) -> int:
    """How many strings are pressed in one of the chords and not in the same place in the other."""
    return sum(1 for a, b in zip(first.frets, second.frets) if a != b and max(a, b) > 0)


def is_easy(first: Chord, second: Chord) -> bool:
    """Whether two chords have at least two pressed strings in common or differ in at most two."""
    common = sum(1 for a, b in zip(first.frets, second.frets) if a == b > 0)
    return common >= 2 or movement(first, second) <= 2


def easy_pairs(chords: Iterable[Chord]) -> List[Tuple[str, str]]:
    """All pairs of different chords that are easy to change between, each pair once, in the order of the chords."""
    return [(first.name, second.name) for first, second in _pairs(chords) if is_easy(first, second)]


def _pairs(chords: Iterable[Chord]) -> Iterator[Tuple[Chord, Chord]]:
    for first in chords:
        for second in chords:
            if first.name < second.name:
                yield first, second


def hardest_step(song: Iterable[Chord]) -> int:
    """The largest movement between one chord of a song and the next; 0 for fewer than two chords."""
    last, result = None, 0
    for chord in song:
        if last is not None:
            result = max(result, movement(last, chord))
        last = chord
    return result
