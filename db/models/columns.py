"""Column types that the tables share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, CheckConstraint, Column, DateTime, Integer, Text, TypeDecorator
from sqlalchemy.engine import Dialect
from sqlmodel import Field, SQLModel

from stackrank.db.texts import Packed

# A later migration cannot drop a constraint that has no name.
# The names are set here because every module of tables imports this one before it defines its first table.
SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

KEY = BigInteger().with_variant(Integer, "sqlite")
"""The type of a row's number: 64 bits. SQLite's INTEGER has 64 bits, and SQLite numbers rows only with that type."""


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC that keeps its time zone even on SQLite, which stores none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert a time to UTC. Raises ValueError if it has no zone, since its meaning is then unknown."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the time {value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Attach UTC to a stored time, which SQLite returns without a zone."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Count(TypeDecorator[int]):
    """A count of more than 32 bits. Its sums are whole numbers too: PostgreSQL makes decimals of those."""

    impl = BigInteger
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        """Return a count, or a sum of counts, as a whole number."""
        return None if value is None else int(value)

    def coerce_compared_value(self, op: Any, value: Any) -> Any:
        """Return the type of a value that a count is compared with, which may be a fraction."""
        return self.impl_instance.coerce_compared_value(op, value)


def when(*, nullable: bool = True) -> Any:
    """A column for a point in time, in UTC."""
    return Field(default=None, sa_column=Column(UtcDateTime, nullable=nullable))


def json(kind: type = dict) -> Any:
    """A column for JSON; `kind` (dict or list) makes its default value."""
    # A lambda, because Pydantic parses the signature of a type for each row, which two threads must not do at a time
    # (python/cpython issue 106905).
    return Field(default_factory=lambda: kind(), sa_column=Column(JSON, nullable=False))


def long_text() -> Any:
    """A column for text of any length."""
    return Field(default="", sa_column=Column(Text, nullable=False))


def key() -> Any:
    """A primary key: the number that the database gives a row."""
    return Field(default=None, primary_key=True, sa_type=KEY)


def ref(to: str, **options: Any) -> Any:
    """A foreign key to another table: `to` is `table.column`."""
    return Field(foreign_key=to, sa_type=KEY, **options)


def packed(kind: type) -> Any:
    """A column for a text, a mapping or a list, compressed as `db.texts` says."""
    # A lambda, because Pydantic reads the factory's signature for each row: that takes ten times as long for a type.
    return Field(default_factory=lambda: kind(), sa_column=Column(Packed(kind), nullable=False, default=lambda: kind()))


def one_of(column: str, terms: Iterable[str]) -> CheckConstraint:
    """A constraint: the column holds a term of a closed vocabulary, which may include the empty text."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(str(term)) for term in terms)})", name=column)


def counts(*columns: str) -> CheckConstraint:
    """A constraint: the columns are counts, so none is negative."""
    return CheckConstraint(" AND ".join(f"{column} >= 0" for column in columns), name="counts")
