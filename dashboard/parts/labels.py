"""Labels that people give to tasks and episodes, and the views of a page that they save."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, urlencode

import streamlit as st

from stackrank.dashboard import address
from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import show
from stackrank.dashboard.parts.writer import name as reader
from stackrank.dashboard.parts.writer import write
from stackrank.db import queries
from stackrank.db.queries.labels import LabelRow
from stackrank.db.writes.labels import MOST_CHARS, MOST_NAME, Labels
from stackrank.terms import Label
from stackrank.wording import words

_PLACE = "after"
"""A parameter with this ending is the reader's place in a paged list, not a filter."""


def dispute(task_id: int, disputed_by: Sequence[str], *, key: str) -> None:
    """Draw a button with which this reader disputes a task, or takes the dispute back."""
    mine = reader() in disputed_by
    label, icon = ("Take my dispute back", "undo") if mine else ("Dispute this task", "flag")
    st.button(label, icon=f":material/{icon}:", key=f"{key}_{task_id}", on_click=_dispute, args=(task_id, not mine))


def _dispute(task_id: int, disputed: bool) -> None:
    def work(labels: Labels) -> None:
        person = reader()
        standing = ask(queries.labels, task=_key(task_id))
        mine = [Label(row["label"]) for row in standing if row["person"] == person and Label(row["label"]).disputes]
        for label in [Label.DISPUTED] if disputed else mine:
            labels.put(label, person=person, task_id=task_id, is_set=disputed)

    write(Labels, work, retry=False)


def _key(task_id: int) -> tuple[str, str]:
    task = ask(queries.task, task_id)
    return task["name"], task["digest"]


def given(labels: Sequence[LabelRow], *, task_id: int | None = None, episode_id: int | None = None) -> None:
    """Draw the labels of a task or of an episode with the people who gave them, and a form for another label."""
    subject = {"task_id": task_id} if episode_id is None else {"episode_id": episode_id}
    noun = "task" if episode_id is None else "episode"
    for row in labels:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(show.escaped(words(row["label"])), icon=":material/label:", color="orange")
            when = show.moment(row["created_at"])
            byline = f"{row['person']}, {when:%Y-%m-%d %H:%M} UTC" if when else row["person"]
            st.caption(show.escaped(f"{byline}: {row['reason']}" if row["reason"] else byline), width="content")
            if row["person"] == reader():
                own_label = Label(row["label"])
                st.button("Take back", key=f"label_back_{row['id']}", type="tertiary", on_click=_put,
                          args=(own_label, "", False), kwargs=subject)  # fmt: skip
    key = f"label_{noun}_{task_id or episode_id}"
    with st.form(key, clear_on_submit=True, border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox(
            f"A label of the {noun}", [*map(str, Label)], format_func=words, key=f"{key}_label", width=220
        )
        reason = st.text_input("Why", key=f"{key}_reason", max_chars=MOST_CHARS)
        if st.form_submit_button("Add label", icon=":material/new_label:") and label:
            _put(Label(label), reason, True, retry=True, **subject)


def _put(label: Label, reason: str, is_set: bool, *, retry: bool = False, **subject: int | None) -> None:
    def work(labels: Labels) -> None:
        labels.put(label, person=reader(), reason=reason, is_set=is_set, **subject)

    write(Labels, work, retry=retry)


def saved_views(page: str, prefix: str) -> None:
    """Draw the saved views of a page, each with a button that opens it, and a form that saves the current view."""
    views = ask(queries.views, page)
    filters = {
        name: st.query_params.get_all(name)
        for name in st.query_params
        if name.startswith(prefix) and not name.endswith(_PLACE)
    }
    with st.popover(f"Saved views ({len(views)})", icon=":material/bookmark:"):
        for view in views:
            with st.container(horizontal=True, vertical_alignment="center"):
                query = parse_qs(view["address"], keep_blank_values=True)
                # A link to the page that is already open would not change the address.
                st.button(show.escaped(view["name"]), icon=":material/bookmark:", key=f"view_{view['id']}",
                          on_click=address.put, kwargs={**dict.fromkeys(filters), **query})  # fmt: skip
                st.caption(show.escaped(view["person"]), width="content")
                st.button("Remove", key=f"view_gone_{view['id']}", type="tertiary", on_click=_keep,
                          args=(page, view["name"], ""))  # fmt: skip
        if not filters:
            st.caption("Set a filter or a query; then you can save the view under a name.")
            return
        with st.form(f"view_{page}", border=False):
            name = st.text_input("Save these filters as", max_chars=MOST_NAME, key=f"view_{page}_name")
            if st.form_submit_button("Save", icon=":material/bookmark_add:"):
                _keep(page, name, urlencode(filters, doseq=True), retry=True)


def _keep(page: str, name: str, address: str, *, retry: bool = False) -> None:
    def work(labels: Labels) -> None:
        labels.save_view(page, name, address, person=reader())

    write(Labels, work, retry=retry)
