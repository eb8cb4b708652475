"""Collects what an observer reports."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Tuple


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

    def records(self) -> Tuple[List[Dict[str, Any]], bool]:
        """Return the records, and whether there was anything else among them."""
        records: List[Dict[str, Any]] = []
        unsound = not self._left
        for line in b"".join(self._chunks).splitlines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if isinstance(record, dict) and isinstance(record.get("kind"), str):
                records.append(record)
            else:
                unsound = True
        return records, unsound
