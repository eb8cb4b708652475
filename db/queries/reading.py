"""Helpers that all queries share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar, overload

from sqlalchemy import Connection, Engine, RowMapping, Select, func

from stackrank.db.connection.errors import FAILURES, explain
from stackrank.db.connection.retries import retry_transient
from stackrank.db.connection.transactions import EPISODE
from stackrank.storable import storable_text

Row = dict[str, Any]
Json = dict[str, Any]
"""What a JSON column holds."""
Kind = TypeVar("Kind")
ERROR_HEAD = func.substr(EPISODE.c.error, 1, 120)
"""The beginning of an episode's error: errors of the same kind begin in the same way."""


@contextmanager
def open_connection(engine: Engine) -> Iterator[Connection]:
    """Open a connection for one query; failures of the database are raised as `DatabaseError`."""
    try:
        with engine.connect() as connection:
            yield connection
    except FAILURES as error:
        raise explain(error, engine.url) from error


def as_json_row(row: RowMapping | Mapping[str, Any]) -> Row:
    """Return the row as it goes into JSON: times as ISO 8601 in UTC."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


@overload
def fetch(engine: Engine, query: Select[Any]) -> list[Row]: ...
@overload
def fetch(engine: Engine, query: Select[Any], kind: type[Kind]) -> list[Kind]: ...
def fetch(engine: Engine, query: Select[Any], kind: Any = Row) -> Any:
    """Return all rows of the query. `kind`: the row type that has the query's columns."""

    def ask() -> list[Row]:
        with engine.connect() as connection:
            cursor = connection.execute(query)
            names = list(cursor.keys())
            table = [tuple(row) for row in cursor.all()]
        # Check whole columns: most hold no times, and looking at each value of each row takes as long as reading it.
        if any(datetime in set(map(type, column)) for column in zip(*table, strict=True)):
            return [as_json_row(dict(zip(names, row, strict=True))) for row in table]
        return [dict(zip(names, row, strict=True)) for row in table]

    try:
        return retry_transient(engine, ask, attempts=1)
    except FAILURES as error:
        raise explain(error, engine.url) from error


def fetch_tuples(engine: Engine, query: Select[Any]) -> list[tuple[Any, ...]]:
    """Return all rows of the query as tuples, for queries with thousands of rows; times are not converted."""
    with open_connection(engine) as connection:
        return list(map(tuple, connection.execute(query).all()))


@overload
def fetch_one(engine: Engine, query: Select[Any]) -> Row | None: ...
@overload
def fetch_one(engine: Engine, query: Select[Any], kind: type[Kind]) -> Kind | None: ...
def fetch_one(engine: Engine, query: Select[Any], kind: Any = Row) -> Any:
    """Return the first row of the query; None if there is none."""
    rows = fetch(engine, query.limit(1), kind)
    return rows[0] if rows else None


def parse_id(value: int | str) -> int | None:
    """Return `value` as the id of a row; None if no database could hold it as one."""
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def as_list(value: str | Iterable[str] | None) -> list[str]:
    """Return one value or several as a list that a query may contain; empty for None and for an empty text."""
    if not value:
        return []
    return [storable_text(text) for text in ([value] if isinstance(value, str) else value)]
