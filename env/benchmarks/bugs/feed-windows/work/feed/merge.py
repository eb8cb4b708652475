# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Several feeds as one."""
from __future__ import annotations

import heapq
from typing import Iterable, Iterator

from .events import Event


class OutOfOrder(ValueError):
    """A feed is not sorted by time."""


def checked(feed: Iterable[Event]) -> Iterator[Event]:
    """The feed; OutOfOrder if an event is earlier than the one before it."""
    last = None
    for event in feed:
        if last is not None and event.at < last:
            raise OutOfOrder(f"{event.source} at {event.at} after {last}")
        last = event.at
        yield event


def merged(feeds: Iterable[Iterable[Event]]) -> Iterator[Event]:
    """The events of all feeds by time; of the same time in the order of the feeds."""
    return heapq.merge(*map(checked, feeds), key=lambda event: event.at)
