# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The database."""
from __future__ import annotations

from typing import Any, Dict, List, Optional

from recdb.journal import MISSING, Journal
from recdb.tables import Record, Tables


class TransactionError(Exception):
    """Something that needs a transaction, or must not be in one."""


class Database:
    """Tables of records. Changes are made in a transaction or take effect for good at once."""

    def __init__(self) -> None:
        self._tables = Tables()
        self._journal: Optional[Journal] = None

    def _open(self) -> Journal:
        if self._journal is None:
            raise TransactionError("no transaction")
        return self._journal

    def _write(self, table: str, number: int, record: Any) -> None:
        if self._journal is not None:
            self._journal.note((table, number), self._tables.get(table, number))
        self._tables.set(table, number, record)

    def begin(self) -> None:
        """Begin a transaction."""
        if self._journal is not None:
            raise TransactionError("already in a transaction")
        self._journal = Journal()

    def commit(self) -> None:
        """End the transaction; its changes stay."""
        self._open()
        self._journal = None

    def roll_back(self, name: Optional[str] = None) -> None:
        """Undo everything since the savepoint, or all and end the transaction."""
        for (table, number), record in self._open().undo_to(name).items():
            self._tables.set(table, number, record)
        if name is None:
            self._journal = None

    def savepoint(self, name: str) -> None:
        """Set a savepoint; a later one of the same name hides the earlier one."""
        self._open().savepoint(name)

    def release(self, name: str) -> None:
        """Forget a savepoint and all set after it, but not the changes."""
        self._open().release(name)

    def insert(self, table: str, number: int, **fields: Any) -> None:
        """Add a record; KeyError if the number is taken."""
        if self._tables.get(table, number) is not MISSING:
            raise KeyError(number)
        self._write(table, number, fields)

    def update(self, table: str, number: int, **fields: Any) -> None:
        """Change fields of a record; KeyError if there is none."""
        self._write(table, number, {**self.get(table, number), **fields})

    def delete(self, table: str, number: int) -> None:
        """Remove a record; KeyError if there is none."""
        self.get(table, number)
        self._write(table, number, MISSING)

    def get(self, table: str, number: int) -> Record:
        """A copy of a record; KeyError if there is none."""
        record = self._tables.get(table, number)
        if record is MISSING:
            raise KeyError(number)
        return dict(record)

    def all(self, table: str) -> Dict[int, Record]:
        """Copies of all records of a table."""
        return {number: dict(record) for number, record in self._tables.items(table)}
