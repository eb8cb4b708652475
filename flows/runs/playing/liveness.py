"""Measures how long others have been silent, by this process's own clock, and only while it could have heard them."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Silence:
    """Watches whether states change. Used by one thread, which looks every few seconds.

    If nobody looked for a while, at most half of `silent_s` counts: while a database is unavailable, nobody can give a
    sign of life, and live processes need a moment to do so when it is back.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[Any, float]] = {}
        self._looked = -math.inf

    def find(self, standing: Mapping[Key, Any], silent_s: float) -> set[Key]:
        """Return keys whose state was the same for `silent_s` seconds. `standing`: the current state of each key."""
        now = time.monotonic()
        missed_s = max(now - self._looked - silent_s / 2, 0.0)
        self._looked = now
        seen: dict[Hashable, tuple[Any, float]] = {}
        for key, stands in standing.items():
            before, since = self._seen.get(key, (None, now))
            seen[key] = (stands, since + missed_s if key in self._seen and before == stands else now)
        self._seen = seen
        return {key for key in standing if now - seen[key][1] >= silent_s}
