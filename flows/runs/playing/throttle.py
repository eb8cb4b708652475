"""Limits how often expensive questions go to the database: the larger a run, the more time each takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
QUICK_S = 0.05
"""A question that takes less time than this is asked every time."""
RESTS = 20
"""After a slower question, it is not asked again for this many times as long as it took, ..."""
LONGEST_S = 10.0
"""... but at most for this many seconds."""


def rest_s(took_s: float) -> float:
    """Return how long not to repeat a question that took this many seconds."""
    return min(RESTS * took_s, LONGEST_S) if took_s >= QUICK_S else 0.0


class Throttled(Generic[T]):
    """Returns the last answer of an expensive question until `rest_s` has passed since it was asked.

    Questions that take less than `QUICK_S`, as in runs of up to a few thousand episodes, are asked every time.
    """

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._answer: T
        self._next = float("-inf")

    def __call__(self) -> T:
        """Return the answer, which is at most `LONGEST_S` old. Raises what `ask` raises."""
        began = time.monotonic()
        if began >= self._next:
            self._answer = self._ask()
            ended = time.monotonic()
            self._next = ended + rest_s(ended - began)
        return self._answer
