"""What all questions share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, RowMapping, Select

from db.errors import FAILURES, explain
from db.patience import patiently
from db.storable import storable_text

Row = dict[str, Any]


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection for one question; what goes wrong comes out as `DatabaseError`."""
    try:
        with engine.connect() as connection:
            yield connection
    except FAILURES as error:
        raise explain(error, str(engine.url)) from error


def plain(row: RowMapping | Mapping[str, Any]) -> Row:
    """The row as JSON has it: times as ISO 8601 in UTC."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


def fetch(engine: Engine, query: Select[Any]) -> list[Row]:
    """All rows of the query."""

    def ask() -> list[Row]:
        with engine.connect() as connection:
            return [plain(row) for row in connection.execute(query).mappings()]

    try:
        return patiently(engine, ask, attempts=1)
    except FAILURES as error:
        raise explain(error, str(engine.url)) from error


def tuples(engine: Engine, query: Select[Any]) -> list[tuple[Any, ...]]:
    """All rows of the query as they come, for questions with thousands of rows; times stay what they are."""
    with reading(engine) as connection:
        return [tuple(row) for row in connection.execute(query)]


def fetch_one(engine: Engine, query: Select[Any]) -> Row | None:
    """The first row of the query."""
    rows = fetch(engine, query.limit(1))
    return rows[0] if rows else None


def row_id(value: int | str) -> int | None:
    """`value` as the id of a row; None when it is not one that a database could hold."""
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def as_list(value: str | Iterable[str] | None) -> list[str]:
    """One value or several, as a list that may be asked for; empty for None and for an empty text."""
    if not value:
        return []
    return [storable_text(one) for one in ([value] if isinstance(value, str) else value)]
