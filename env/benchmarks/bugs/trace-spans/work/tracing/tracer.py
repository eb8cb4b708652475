# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The tracer."""
from __future__ import annotations

import itertools
import time
from contextlib import contextmanager
from typing import Callable, Iterator, List

from .current import OpenSpans
from .span import Span


class Tracer:
    """Collects spans from threads and from async tasks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open = OpenSpans()
        self._numbers = itertools.count(1)
        self.ended: List[Span] = []

    @contextmanager
    def span(self, name: str) -> Iterator[Span]:
        """A span around the block, below the span that is open here."""
        outer = self._open.innermost()
        span = Span(next(self._numbers), name, outer.number if outer else None, self._clock())
        self._open.push(span)
        try:
            yield span
        finally:
            self._close(self._open.pop())

    def _close(self, span: Span) -> None:
        span.end = self._clock()
        self.ended.append(span)
