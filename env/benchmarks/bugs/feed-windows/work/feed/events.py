# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Events."""
from __future__ import annotations

from typing import Iterable, Iterator, NamedTuple


class Event(NamedTuple):
    """Something that happened `at` a second."""

    at: int
    source: str
    size: int = 1


def parse(lines: Iterable[str]) -> Iterator[Event]:
    """Events of lines such as `3605 door 2`."""
    for line in lines:
        words = line.split()
        if words:
            yield Event(int(words[0]), words[1], int(words[2]) if len(words) > 2 else 1)
