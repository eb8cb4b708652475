"""Questions to the database that cost more the larger a run is, asked so that they never take much of the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
QUICK_S = 0.05
"""What takes less is asked each time."""
RESTS = 20
"""Between two looks is at least this many times as long as a look took, ..."""
LONGEST_S = 10.0
"""... but no longer than that."""


def rest_s(took_s: float) -> float:
    """How long not to ask a question again that took so many seconds."""
    return min(RESTS * took_s, LONGEST_S) if took_s >= QUICK_S else 0.0


class Sparingly(Generic[T]):
    """Gives the last answer until it is time to ask again, which for a run of some thousand episodes is at once."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        self._answer: T
        self._next = float("-inf")

    def __call__(self) -> T:
        """The answer, which is at most `LONGEST_S` old. Raises what the question does."""
        began = time.monotonic()
        if began >= self._next:
            self._answer = self._ask()
            ended = time.monotonic()
            self._next = ended + rest_s(ended - began)
        return self._answer
