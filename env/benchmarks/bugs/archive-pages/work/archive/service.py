# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The archive's service, as far as we know it."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Optional, Sequence

from .letters import Letter


@dataclass(frozen=True)
class Page:
    """Some letters, and the mark where the next page begins; no mark after the last page."""

    letters: List[Letter]
    mark: Optional[str]


class BadMark(ValueError):
    """The mark is not one that the service gave."""


class Service:
    """Looks through `size` letters per request and answers with those that fit."""

    def __init__(self, letters: Sequence[Letter], size: int = 10) -> None:
        self._letters = list(letters)
        self._size = size
        self.requests = 0

    def search(self, author: Optional[str] = None, mark: Optional[str] = None) -> Page:
        self.requests += 1
        start = self._position(mark)
        end = start + self._size
        letters = [one for one in self._letters[start:end] if author is None or one.author == author]
        return Page(letters, f"m{end}" if end < len(self._letters) else None)

    def _position(self, mark: Optional[str]) -> int:
        if mark is None:
            return 0
        if not mark.startswith("m") or not mark[1:].isdigit():
            raise BadMark(mark)
        return int(mark[1:])
