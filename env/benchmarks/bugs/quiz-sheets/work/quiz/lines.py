# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Lines of a file."""
from __future__ import annotations

from typing import Iterable, Iterator


class Lines:
    """The lines that count: without empty ones and comments."""

    def __init__(self, source: Iterable[str]) -> None:
        self._lines = self._clean(source)
        self.number = 0

    def _clean(self, source: Iterable[str]) -> Iterator[str]:
        for number, line in enumerate(source, 1):
            text = line.strip()
            if text and not text.startswith("#"):
                self.number = number
                yield text

    def take(self) -> str:
        """The next line."""
        return next(self._lines)
