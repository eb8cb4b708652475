# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Digests."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Dict, Iterable, Iterator, List, Optional

from .events import Event
from .merge import merged
from .windows import windows


@dataclass(frozen=True)
class Digest:
    """The figures of one window."""

    start: int
    count: int
    size: int
    loudest: Optional[str]


def _loudest(events: Iterable[Event]) -> Optional[str]:
    sizes: Dict[str, int] = Counter()
    for event in events:
        sizes[event.source] += event.size
    return min(sizes, key=lambda source: (-sizes[source], source)) if sizes else None


def digest(
    feeds: Iterable[Iterable[Event]], length: int = 3600, start: int = 0, limit: Optional[int] = None
) -> List[Digest]:
    """One digest per window of the merged feeds, at most `limit`."""
    return list(islice(_digests(merged(feeds), length, start), limit))


def _digests(feed: Iterable[Event], length: int, start: int) -> Iterator[Digest]:
    for begin, events in windows(feed, length, start):
        yield Digest(begin, len(events), sum(event.size for event in events), _loudest(events))
