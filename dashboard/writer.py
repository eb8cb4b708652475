"""Who is looking, and how what they say is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from sqlalchemy import Engine

from stackrank.dashboard import show
from stackrank.dashboard.data import engine, forget
from stackrank.db.errors import DatabaseError
from stackrank.errors import UsageError
from stackrank.settings import default_owner

Writer = TypeVar("Writer")


def name() -> str:
    """The name under which this reader writes: that of the login, else `STACKRANK_OWNER`, else the user's."""
    if st.user.get("is_logged_in"):
        return str(st.user.get("email") or st.user.get("name") or st.user.get("sub"))
    return default_owner()


def write(kind: Callable[[Engine], Writer], work: Callable[[Writer], object], *, again: bool = True) -> None:
    """Write by one of the classes of `db` that do, and, with `again`, draw the page anew; a refusal is a message."""
    try:
        work(kind(engine()))
    except (UsageError, DatabaseError) as error:
        st.error(show.as_message(error))
        return
    forget()
    if again:
        st.rerun()
