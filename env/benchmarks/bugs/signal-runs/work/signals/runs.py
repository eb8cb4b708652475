# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Runs."""
from __future__ import annotations

from typing import Iterable, Iterator, NamedTuple, Optional

from .peek import Peekable


class Run(NamedTuple):
    """`count` equal samples; None stands for no sample, while the sensor was out."""

    value: Optional[int]
    count: int


def runs(samples: Iterable[Optional[int]], tolerance: int = 0) -> Iterator[Run]:
    """Runs of samples that are at most `tolerance` away from the first of the run. Outages are runs of their own."""
    stream = Peekable(samples)
    while stream:
        first = next(stream)
        count = 1
        while stream and _alike(first, stream.peek(), tolerance):
            next(stream)
            count += 1
        yield Run(first, count)


def _alike(first: Optional[int], other: Optional[int], tolerance: int) -> bool:
    if first is None or other is None:
        return first is other
    return abs(first - other) <= tolerance


def samples(stored: Iterable[Run]) -> Iterator[Optional[int]]:
    """The samples of runs."""
    for run in stored:
        for _ in range(run.count):
            yield run.value
