# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cutting a feed into windows of equal length."""
from __future__ import annotations

from itertools import chain, dropwhile, takewhile
from typing import Iterable, Iterator, List, Tuple

from .events import Event

Window = Tuple[int, List[Event]]


def windows(feed: Iterable[Event], length: int, start: int = 0) -> Iterator[Window]:
    """Windows one after the other from `start` up to the one of the last event, each with its start and its events.

    The feed is sorted by time and may be endless: a window SHALL come out as soon as an event after it is seen.
    Windows without events come out empty. Events before `start` are left out.
    """
    rest = dropwhile(lambda event: event.at < start, feed)
    for event in rest:
        while event.at >= start + length:
            yield start, []
            start += length
        end = start + length
        yield start, list(chain([event], takewhile(lambda later: later.at < end, rest)))
        start = end
