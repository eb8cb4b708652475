# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A stand-in for a database server: tables of rows in memory."""
from __future__ import annotations

from typing import Dict, Iterator, List, Optional

Row = Dict[str, object]


class BrokenConnection(Exception):
    """The server closed the connection while it was in use."""


class Database:
    """Tables by name. If `breaks_after` is set, the next stream breaks after that many rows."""

    def __init__(self, tables: Dict[str, List[Row]]) -> None:
        self.tables = tables
        self.breaks_after: Optional[int] = None
        self.opened = 0

    def connect(self) -> Connection:
        self.opened += 1
        return Connection(self, self.opened)


class Connection:
    """One connection; after it broke it is useless."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self.number = number
        self.broken = False

    def stream(self, table: str) -> Iterator[Row]:
        """The rows of a table, one by one."""
        if self.broken:
            raise BrokenConnection(f"connection {self.number} is broken")
        for position, row in enumerate(self._database.tables[table]):
            if self._database.breaks_after == position:
                self._database.breaks_after = None
                self.broken = True
                raise BrokenConnection(f"connection {self.number} broke")
            yield dict(row)
