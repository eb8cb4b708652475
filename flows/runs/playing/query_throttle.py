"""Limits how often expensive queries go to the database: the larger a run, the more time each takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
FAST_S = 0.05
"""A query that takes less time than this is repeated every time."""
REST_FACTOR = 20
"""A slower query is not repeated for this many times as long as it took, ..."""
LONGEST_S = 10.0
"""... but at most for this many seconds."""


def rest_s(took_s: float) -> float:
    """Return how many seconds to wait before repeating a query that took this many seconds."""
    return min(REST_FACTOR * took_s, LONGEST_S) if took_s >= FAST_S else 0.0


class ThrottledQuery(Generic[T]):
    """Returns the last answer of an expensive query until `rest_s` has passed since it was made.

    Queries that take less than `FAST_S`, as in runs of up to a few thousand episodes, are made every time.
    """

    def __init__(self, query: Callable[[], T]) -> None:
        self._query = query
        self._answer: T
        self._next = float("-inf")

    def __call__(self) -> T:
        """Return the answer, which is at most `LONGEST_S` old. Raises what the query raises."""
        start = time.monotonic()
        if start >= self._next:
            self._answer = self._query()
            end = time.monotonic()
            self._next = end + rest_s(end - start)
        return self._answer
