"""Measures how long others have been silent, by this process's own clock, and only while it could have heard them."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key", bound=Hashable)


class SilenceWatch:
    """Watches whether states change. Used by one thread, which looks every few seconds.

    If nobody looked for a while, at most half of `silent_s` counts: while a database is unavailable, nobody can give a
    sign of life, and live processes need a moment to do so when it is back.
    """

    def __init__(self) -> None:
        self._history: dict[Hashable, tuple[Any, float]] = {}
        """Key -> its last state, and since when it has had that state."""
        self._last_look = -math.inf

    def find_silent(self, states: Mapping[Key, Any], silent_s: float) -> set[Key]:
        """Return the keys whose state was the same for `silent_s` seconds. `states`: the current state of each key."""
        clock = time.monotonic()
        missed_s = max(clock - self._last_look - silent_s / 2, 0.0)
        self._last_look = clock
        history: dict[Hashable, tuple[Any, float]] = {}
        for key, state in states.items():
            last_state, since = self._history.get(key, (None, clock))
            is_same = key in self._history and last_state == state
            history[key] = (state, since + missed_s if is_same else clock)
        self._history = history
        return {key for key in states if clock - history[key][1] >= silent_s}
