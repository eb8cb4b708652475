"""What pages ask the database, remembered for a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st
from sqlalchemy import Engine

from db import queries
from db.engine import connect, default_url

_FRESH_S = 4
"""Seconds an answer may be old: several widgets of one page, and several readers, share it."""


@st.cache_resource(max_entries=4, show_spinner="Opening the database")
def _engine(url: str) -> Engine:
    return connect(url)


def engine() -> Engine:
    """The database that the environment names. Raises `DatabaseError`."""
    return _engine(default_url())


@st.cache_data(ttl=_FRESH_S, max_entries=64, show_spinner=False)
def _ask(url: str, question: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    ask: Callable[..., Any] = getattr(queries, question)
    return ask(_engine(url), *arguments, **options)


def forget() -> None:
    """Drop the answers that are remembered: something was written."""
    _ask.clear()


def ask(question: str, *arguments: Any, **options: Any) -> Any:
    """The answer of `db.queries.<question>`. Raises `DatabaseError` and `NotFound`."""
    return _ask(default_url(), question, arguments, options)
