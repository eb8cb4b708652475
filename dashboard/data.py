"""The pages' queries to the database, cached for a few seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

import streamlit as st
from sqlalchemy import Engine

from stackrank.db.connection.engine import connect, default_url

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
_FRESH_S = 4
"""How many seconds old a cached answer may be; several widgets of a page and several readers share it."""


@st.cache_resource(max_entries=4, show_spinner="Opening the database")
def _engine(url: str) -> Engine:
    return connect(url)


def engine() -> Engine:
    """Return the engine of the database that the environment names. Raises `DatabaseError`."""
    return _engine(default_url())


@st.cache_data(ttl=_FRESH_S, max_entries=64, show_spinner=False)
def _ask(url: str, question: str, _ask_it: Callable[..., Any], arguments: Any, options: Any) -> Any:
    return _ask_it(_engine(url), *arguments, **options)


def forget() -> None:
    """Drop the cached answers, because something was written."""
    _ask.clear()


def ask(
    question: Callable[Concatenate[Engine, Given], Answer], *arguments: Given.args, **options: Given.kwargs
) -> Answer:
    """Return the answer of a query. Raises `DatabaseError` and `NotFound`."""
    answer: Answer = _ask(default_url(), f"{question.__module__}.{question.__qualname__}", question, arguments, options)
    return answer
