"""Collects what an observer reports."""

from __future__ import annotations

from typing import List, Tuple


class RecordCollector:
    """Collects the records of a report in bounded memory. The program can write to the report too."""

    def __init__(self, cap: int = 8 << 20) -> None:
        self._left = cap
        self._chunks: List[bytes] = []

    def take(self, data: bytes) -> None:
        """Take in some bytes."""
        data = data[: self._left]
        self._left -= len(data)
        self._chunks.append(data)

    def records(self) -> Tuple[bytes, bool]:
        """Return the lines of records, and whether these are all."""
        return b"".join(self._chunks), bool(self._left)
