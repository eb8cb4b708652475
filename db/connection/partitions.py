"""PostgreSQL keeps the steps of every 100,000 episodes in a partition of their own, made before it is needed.

Tables of billions of rows stay fast to insert into and to clean, and an old range can be dropped or moved as a whole.
SQLite has one table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select, text

from stackrank.db.connection.transactions import EPISODE

EPISODES = 100_000
"""The number of episodes whose steps share a partition, `step_0`, `step_1` and so on."""
_LOCK = 7_236_110_417
_NAME = re.compile(r"step_[0-9]+")


def make_room(connection: Connection, episodes: int) -> None:
    """Make missing partitions for the next `more` episodes, and one beyond for episodes that come one by one.

    Call this in its own transaction before the episodes are stored: a new partition waits for writers of episodes.
    """
    if connection.dialect.name == "postgresql":
        query = text("SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('episode', 'id')::regclass), 0)")
        last_id = int(connection.scalar(query) or 0)
        _create(connection, range(last_id // EPISODES, (last_id + episodes) // EPISODES + 2))


def make_partitions(connection: Connection) -> None:
    """Make missing partitions for all stored episodes."""
    if connection.dialect.name == "postgresql":
        _create(connection, connection.scalars(select(EPISODE.c.id // EPISODES).distinct()).all())


def is_table(name: str | None, kind: str, _parents: Any) -> bool:
    """Whether alembic should look at this object: partitions are not tables of the schema."""
    return kind != "table" or name is None or _NAME.fullmatch(name) is None


def _create(connection: Connection, numbers: Iterable[int]) -> None:
    first_ids = {f"step_{number}": number * EPISODES for number in numbers}
    if first_ids.keys() <= _existing(connection):
        return
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    for name in first_ids.keys() - _existing(connection):
        # The table is attached, because creating it as a partition would wait for all readers of steps.
        connection.execute(text(f"CREATE TABLE {name} (LIKE step INCLUDING ALL)"))
        bounds = f"FROM ({first_ids[name]}) TO ({first_ids[name] + EPISODES})"
        connection.execute(text(f"ALTER TABLE step ATTACH PARTITION {name} FOR VALUES {bounds}"))


def _existing(connection: Connection) -> set[str]:
    query = (
        "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = 'step'::regclass"
    )
    return set(connection.scalars(text(query)))
