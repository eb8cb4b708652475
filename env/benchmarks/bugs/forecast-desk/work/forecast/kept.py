# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Values kept for a while."""
from __future__ import annotations

from typing import Callable, Dict, Generic, Optional, Tuple, TypeVar

V = TypeVar("V")


class Kept(Generic[V]):
    """Values by key, forgotten `seconds` after they were put."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._values: Dict[str, Tuple[float, V]] = {}

    def put(self, key: str, value: V) -> None:
        self._values[key] = (self._clock() + self._seconds, value)

    def get(self, key: str) -> Optional[V]:
        """The value, or None if there is none any more."""
        until, value = self._values.get(key, (0.0, None))
        if value is None or self._clock() >= until:
            self._values.pop(key, None)
            return None
        return value
