"""Who the reader is, and how their input is written to the database."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from sqlalchemy import Engine

from stackrank.dashboard.data import engine, forget
from stackrank.dashboard.parts import show
from stackrank.db.connection.errors import DatabaseError
from stackrank.errors import UsageError
from stackrank.settings import default_owner

Writer = TypeVar("Writer")


def name() -> str:
    """Return the name under which this reader writes: the login's, else `STACKRANK_OWNER`, else the system user's."""
    if st.user.get("is_logged_in"):
        return str(st.user.get("email") or st.user.get("name") or st.user.get("sub"))
    return default_owner()


def write(kind: Callable[[Engine], Writer], work: Callable[[Writer], object], *, retry: bool = True) -> None:
    """Write with one of the writer classes of `db`; with `again`, redraw the page. A refusal is shown as a message."""
    try:
        work(kind(engine()))
    except (UsageError, DatabaseError) as error:
        st.error(show.as_message(error))
        return
    forget()
    if retry:
        st.rerun()
