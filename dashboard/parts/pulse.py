"""Draws a page again when the runs that it is about have gone on, so that no figure stands still while they play."""

from __future__ import annotations

import streamlit as st

from stackrank.dashboard.data import engine, forget
from stackrank.dashboard.parts import scope
from stackrank.db import queries
from stackrank.db.connection.engine import default_url
from stackrank.db.connection.errors import DatabaseError, NotComparable, NotFound

_DRAWN = "pulse_of_the_page"
_LAST: dict[str, object] = {}
"""Database -> how its runs were when somebody looked last. Answers from before they have gone on are forgotten."""


def begin(*, wide: bool) -> None:
    """Remember how the runs are, before a page is drawn. `wide`: the page is about all runs."""
    runs, url = _pulse(True), default_url()
    st.session_state[_DRAWN] = runs if wide else _pulse(False)
    if _LAST.get(url) != runs:
        _LAST[url] = runs
        forget()


@st.fragment(run_every="5s")
def follow(*, wide: bool) -> None:
    """Compare the runs every few seconds with what they were when the page was drawn."""
    if _pulse(wide) != st.session_state[_DRAWN]:
        st.rerun(scope="app")


def _pulse(wide: bool) -> object:
    try:
        return queries.pulse(engine(), None if wide else scope.current())
    except (DatabaseError, NotFound, NotComparable):
        return None  # the page says so
