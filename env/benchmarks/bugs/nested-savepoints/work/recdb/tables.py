# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tables of records."""
from __future__ import annotations

from typing import Any, Dict, Iterator, Tuple

from recdb.journal import MISSING

Record = Dict[str, Any]


class Tables:
    """Records by table and number. Records are never changed in place, always replaced."""

    def __init__(self) -> None:
        self._tables: Dict[str, Dict[int, Record]] = {}

    def get(self, table: str, number: int) -> Any:
        """The record or MISSING."""
        return self._tables.get(table, {}).get(number, MISSING)

    def set(self, table: str, number: int, record: Any) -> None:
        """Put a record in place, or take it away if it is MISSING."""
        if record is MISSING:
            self._tables.get(table, {}).pop(number, None)
        else:
            self._tables.setdefault(table, {})[number] = record

    def items(self, table: str) -> Iterator[Tuple[int, Record]]:
        """Numbers and records of a table, lowest number first."""
        return iter(sorted(self._tables.get(table, {}).items()))
