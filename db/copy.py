"""All rows of one database into another, empty one: from SQLite to PostgreSQL, when a team starts to share, or back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, func, insert, select, text
from sqlmodel import SQLModel

from stackrank.db import models
from stackrank.db.errors import FAILURES, DatabaseError, explain
from stackrank.db.partitions import make_partitions
from stackrank.db.transactions import COUNTER, STEP

assert models  # The tables are known once their module is imported.
_BATCH = 500
TABLES = [table for table in SQLModel.metadata.sorted_tables if table is not COUNTER]
"""Every table but the counters, which follow from the episodes; after those it refers to."""


def copy(source: Engine, target: Engine, say: Callable[[str, int], None]) -> dict[str, int]:
    """Copy every row of `source`, with its id, and return the number of rows of each table.

    Both have the newest schema. All is one transaction of the target and one snapshot of the source, which may be in
    use meanwhile: later rows are not copied. `say` hears of each table and its rows. Raises DatabaseError, also for a
    target that has rows, or whose rows do not count up; then the target is as it was.
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
        raise explain(error, str(target.url)) from error


def counts(engine: Engine) -> dict[str, int]:
    """The number of rows of each table. Raises DatabaseError."""
    try:
        with engine.connect() as connection:
            return {table.name: _count(connection, table) for table in TABLES}
    except FAILURES as error:
        raise explain(error, str(engine.url)) from error


def _snapshot(engine: Engine) -> Connection:
    """A connection whose questions all see one state of the database; SQLite's transactions do so by themselves."""
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
    found = _count(writing, table)
    if found != expected:
        raise DatabaseError(f"Of {expected} rows of {table.name} {found} arrived, so nothing was copied: try again.")
    if writing.dialect.name == "postgresql" and "id" in table.c and found:
        # Ids were given, so the sequence that makes them does not know of them yet.
        writing.execute(
            text(f"SELECT setval(pg_get_serial_sequence(:name, 'id'), (SELECT max(id) FROM \"{table.name}\"))"),
            {"name": f'"{table.name}"'},
        )
    return found


def _count(connection: Connection, table: Table) -> int:
    return int(connection.scalar(select(func.count()).select_from(table)) or 0)


def server_and_size(connection: Connection) -> tuple[str, int]:
    """What the database runs on, with its version, and how many bytes it takes."""
    if connection.dialect.name == "postgresql":
        server = f"PostgreSQL {connection.scalar(text('SHOW server_version'))}"
        return server, int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
    server = f"SQLite {connection.scalar(text('SELECT sqlite_version()'))}"
    return server, Path(str(connection.engine.url.database)).stat().st_size
