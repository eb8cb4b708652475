"""Ctrl+K or Cmd+K opens a field that leads to every page, run, task, entrant and episode with a few letters."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.browser.modules import component, feed, packed
from stackrank.dashboard.data import ask
from stackrank.db import queries
from stackrank.db.connection.errors import DatabaseError
from stackrank.errors import UsageError
from stackrank.wording import visible

_JUMP = component("jump", "jump/jump.js", html="jump/jump.html", styles=["lib/base.css", "jump/jump.css"])
_MOST_CHARS = 200


@st.fragment
def offer(pages: Sequence[tuple[str, str]]) -> None:
    """Let Ctrl+K open the field on this page. `pages`: title and address of each page that the field lists."""
    typed = _JUMP(key="jump", data=packed([list(page) for page in pages]), on_text_change=lambda: None)
    with st.container(key="jump_feed", gap=None):
        if question := getattr(typed, "text", None):
            feed("jump", question, _found(str(question).partition(" ")[2][:_MOST_CHARS]))


def _found(text: str) -> dict[str, object]:
    """Return the places that a text leads to, as the browser lists them: name, about, address; and a note."""
    try:
        places = ask(queries.find_places, text)
    except (DatabaseError, UsageError) as error:
        return {"places": [], "note": visible(str(error))}
    listed = [
        [visible(place["name"]), visible(place["about"]), address.to(place["page"], **place["query"])]
        for place in places
    ]
    return {"places": listed, "note": "" if listed else "Nothing has this in its name."}
