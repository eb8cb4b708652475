# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Entries by day."""
from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import Iterable, Iterator, List, Tuple

from .entries import Entry


def by_day(entries: Iterable[Entry]) -> List[Tuple[str, Iterator[Entry]]]:
    """Days in order, each with its entries in the order of the log."""
    ordered = sorted(entries, key=attrgetter("day"))
    return list(groupby(ordered, key=attrgetter("day")))
