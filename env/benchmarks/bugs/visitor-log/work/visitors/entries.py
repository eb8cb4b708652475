# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lines of the log."""
from __future__ import annotations

from typing import Iterable, Iterator, NamedTuple


class Entry(NamedTuple):
    """Some people who came in together."""

    day: str
    hour: int
    kind: str
    count: int


def read(lines: Iterable[str]) -> Iterator[Entry]:
    """Entries from lines such as `2024-05-01 14:05 adult 2`; empty lines and comments are left out."""
    for line in lines:
        line = line.partition("#")[0].strip()
        if line:
            day, time, kind, count = line.split()
            yield Entry(day, int(time[:2]), kind, int(count))
