# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Find earlier parts that are like the next bytes."""
from __future__ import annotations

from typing import Dict, List, Tuple

from lzpack.tokens import MAX_COPY, MIN_COPY, WINDOW


class Matcher:
    """Remembers where each three bytes occurred in the data."""

    def __init__(self, data: bytes, tries: int = 16) -> None:
        self._data = data
        self._tries = tries
        self._places: Dict[bytes, List[int]] = {}

    def note(self, position: int) -> None:
        """The bytes at the position may be referred to from now on."""
        key = self._data[position:position + MIN_COPY]
        if len(key) == MIN_COPY:
            self._places.setdefault(key, []).append(position)

    def longest(self, position: int) -> Tuple[int, int]:
        """Distance and length of the longest like part that began earlier, the nearest of equal ones; (0, 0) if none.

        The part may reach into the bytes at `position` itself.
        """
        best = (0, 0)
        places = self._places.get(self._data[position:position + MIN_COPY], ())
        for place in reversed(places[-self._tries:]):
            if position - place > WINDOW:
                break
            length = self._common(place, position)
            if length > best[1]:
                best = (position - place, length)
        return best

    def _common(self, place: int, position: int) -> int:
        length, limit = 0, min(MAX_COPY, len(self._data) - position)
        while length < limit and self._data[place + length] == self._data[position + length]:
            length += 1
        return length
