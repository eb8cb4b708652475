# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A pool of connections."""
from __future__ import annotations

from .database import Connection, Database


class PoolExhausted(Exception):
    """All the connections the pool may have are in use."""


class Pool:
    """Lends connections: at most `size` exist at a time, those given back are lent again."""

    def __init__(self, database: Database, size: int) -> None:
        self._database = database
        self._size = size
        self._idle: list[Connection] = []
        self._lent: set[Connection] = set()

    @property
    def idle(self) -> int:
        return len(self._idle)

    @property
    def lent(self) -> int:
        return len(self._lent)

    def acquire(self) -> Connection:
        if self._idle:
            connection = self._idle.pop()
        elif self.lent < self._size:
            connection = self._database.connect()
        else:
            raise PoolExhausted(f"all {self._size} connections are in use")
        self._lent.add(connection)
        return connection

    def release(self, connection: Connection) -> None:
        """Take back a sound connection."""
        self._lent.remove(connection)
        self._idle.append(connection)

    def discard(self, connection: Connection) -> None:
        """Take back a connection that failed; it is not lent again."""
        self._lent.remove(connection)
