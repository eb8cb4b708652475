"""Copy all rows of a database into an empty one: from SQLite to PostgreSQL, when a team starts to share, or back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, func, insert, select, text
from sqlmodel import SQLModel

from stackrank.db.connection.errors import FAILURES, DatabaseError, explain
from stackrank.db.connection.partitions import make_partitions
from stackrank.db.connection.transactions import COUNTER, STEP
from stackrank.db.models import runs as models
from stackrank.wording import count_of

assert models  # Importing this module registers the tables.
_BATCH = 500
TABLES = [table for table in SQLModel.metadata.sorted_tables if table is not COUNTER]
"""Every table except the counters, which follow from the episodes. A table comes after those it refers to."""


def copy(source: Engine, target: Engine, say: Callable[[str, int], None]) -> dict[str, int]:
    """Copy every row of `source`, with its id, and return the number of rows of each table.

    Both have the newest schema. The copy is one transaction in the target and reads one snapshot of the source, which
    may be in use meanwhile: later rows are not copied. `say` is called with each table and its number of rows. Raises
    DatabaseError, also if the target already has rows or if not all rows arrive; then the target stays unchanged.
    """
    try:
        with _snapshot(source) as reading, _writing(target) as writing, writing.begin():
            for table in TABLES:
                if writing.execute(select(1).select_from(table).limit(1)).first():
                    raise DatabaseError(
                        f"The database {target.url!r} already has rows in {table.name}: name an empty one."
                    )
            copied = {}
            for table in TABLES:
                copied[table.name] = _copy_table(reading, writing, table)
                say(table.name, copied[table.name])
            return copied
    except FAILURES as error:
        raise explain(error, target.url) from error


def counts(engine: Engine) -> dict[str, int]:
    """The number of rows of each table. Raises DatabaseError."""
    try:
        with engine.connect() as connection:
            return {table.name: _count(connection, table) for table in TABLES}
    except FAILURES as error:
        raise explain(error, engine.url) from error


def _snapshot(engine: Engine) -> Connection:
    """Return a connection whose queries all see one state of the database, as any SQLite transaction does."""
    connection = engine.connect()
    if engine.dialect.name == "postgresql":
        return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    return connection


def _writing(engine: Engine) -> Connection:
    return engine.connect().execution_options(write=True)


def _copy_table(reading: Connection, writing: Connection, table: Table) -> int:
    if table is STEP:
        make_partitions(writing)
    expected = _count(reading, table)
    rows = reading.execution_options(yield_per=_BATCH).execute(select(table).order_by(*table.primary_key))
    for part in rows.mappings().partitions():
        writing.execute(insert(table), [dict(row) for row in part])
    copied = _count(writing, table)
    if copied != expected:
        raise DatabaseError(
            f"Of {count_of(expected, 'row')} of {table.name} {copied} arrived, so nothing was copied: try again."
        )
    if writing.dialect.name == "postgresql" and "id" in table.c and copied:
        # The rows came with their ids, so the sequence that generates ids does not know of them yet.
        writing.execute(
            text(f"SELECT setval(pg_get_serial_sequence(:name, 'id'), (SELECT max(id) FROM \"{table.name}\"))"),
            {"name": f'"{table.name}"'},
        )
    return copied


def _count(connection: Connection, table: Table) -> int:
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def server_and_size(connection: Connection) -> tuple[str, int]:
    """Return the database server with its version, and the size of the database in bytes."""
    if connection.dialect.name == "postgresql":
        server = f"PostgreSQL {connection.scalar(text('SHOW server_version'))}"
        return server, int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
    server = f"SQLite {connection.scalar(text('SELECT sqlite_version()'))}"
    return server, Path(str(connection.engine.url.database)).stat().st_size
