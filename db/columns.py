"""Kinds of columns that the tables share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Text, TypeDecorator
from sqlalchemy.engine import Dialect
from sqlmodel import Field


class UtcDateTime(TypeDecorator[datetime]):
    """A time in UTC that keeps its time zone on SQLite too, which stores none."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; a time without a zone is refused, since nobody knows what it means."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"the time {value} has no time zone")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Say that what was stored is UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """The current time in UTC, with its time zone."""
    return datetime.now(UTC)


def when(*, nullable: bool = True) -> Any:
    """A time."""
    return Field(default=None, sa_column=Column(UtcDateTime, nullable=nullable))


def json(kind: type = dict) -> Any:
    """A mapping, or a list."""
    return Field(default_factory=kind, sa_column=Column(JSON, nullable=False))


def long_text() -> Any:
    """A text of any length."""
    return Field(default="", sa_column=Column(Text, nullable=False))
