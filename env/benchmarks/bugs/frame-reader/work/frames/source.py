# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Bytes one by one from the pieces a connection delivers."""
from __future__ import annotations

from typing import Iterable, Iterator, Optional


class Source:
    """Hands out bytes; remembers how many."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._bytes = self._run(pieces)
        self.position = 0

    @staticmethod
    def _run(pieces: Iterable[bytes]) -> Iterator[int]:
        for piece in pieces:
            yield from piece

    def byte_or_none(self) -> Optional[int]:
        """The next byte, or None at the end."""
        value = next(self._bytes, None)
        if value is not None:
            self.position += 1
        return value

    def byte(self) -> int:
        """The next byte; EOFError at the end."""
        value = next(self._bytes)
        self.position += 1
        return value

    def take(self, count: int) -> bytes:
        """The next `count` bytes; EOFError if there are fewer."""
        return bytes([self.byte() for _ in range(count)])
