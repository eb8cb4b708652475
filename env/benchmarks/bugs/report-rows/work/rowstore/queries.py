# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Questions to the database; each borrows one connection from the pool."""
from __future__ import annotations

from contextlib import closing
from itertools import islice
from typing import Callable, Iterator

from .database import Row
from .pool import Pool

Test = Callable[[Row], bool]


def rows(pool: Pool, table: str, test: Test | None = None) -> Iterator[Row]:
    """The rows of the table that pass the test, one by one.

    The connection is borrowed while the rows are read. It goes back to the pool when the reader is done,
    or is discarded if the query failed.
    """
    connection = pool.acquire()
    try:
        for row in connection.stream(table):
            if test is None or test(row):
                yield row
    except Exception:
        pool.discard(connection)
        raise
    else:
        pool.release(connection)


def take(pool: Pool, table: str, count: int, test: Test | None = None) -> list[Row]:
    """At most `count` rows that pass the test."""
    with closing(rows(pool, table, test)) as found:
        return list(islice(found, count))


def first_row(pool: Pool, table: str, test: Test | None = None) -> Row | None:
    """The first row that passes the test, or None."""
    found = take(pool, table, 1, test)
    return found[0] if found else None


def exists(pool: Pool, table: str, test: Test) -> bool:
    """Whether any row passes the test."""
    return first_row(pool, table, test) is not None
