"""What people write about runs and episodes: notes, tags and labels."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from stackrank.dashboard.data import ask
from stackrank.dashboard.parts import labels, show
from stackrank.dashboard.parts.tables import EPISODE_PAGE
from stackrank.dashboard.parts.writer import name, write
from stackrank.db import queries
from stackrank.db.queries.notes import NoteRow
from stackrank.db.writes.notes import MOST_CHARS, Notes


def notes_and_tags(
    run_id: int, tags: list[str], *, episode_id: int | None = None, step_index: int | None = None
) -> None:
    """Draw what the team says about a run or an episode. A new note on an episode is about the step that is shown."""
    notes = ask(queries.notes, run_id=run_id, episode_id=episode_id)
    key = f"note_{run_id}_{episode_id}"
    label = f"Notes and tags ({len(notes)})"
    with st.expander(label, key=f"{key}_all", icon=":material/sticky_note_2:", expanded=bool(notes), type="compact"):
        _tags(run_id, tags, episode_id)
        if episode_id is not None:
            labels.given(ask(queries.labels, episode_id=episode_id), episode_id=episode_id)
        for note in notes:
            _note(note, episode_id)
        place = "the run" if episode_id is None else "the step that is shown"
        with st.form(key, clear_on_submit=True, border=False):
            body = st.text_area(f"A note about {place}", max_chars=MOST_CHARS, height=80, key=f"{key}_body")
            if st.form_submit_button("Add note", icon=":material/add_comment:"):
                subject = {"episode_id": episode_id, "step_index": step_index}
                _write(lambda notes: notes.add(run_id, body, author=name(), **subject))
        if notes:
            show.csv_button(notes, name=f"notes_{run_id}", key=f"{key}_list")


def _tags(run_id: int, tags: list[str], episode_id: int | None) -> None:
    key = f"tags_{run_id}_{episode_id}"

    def keep() -> None:
        tags = st.session_state[key]
        if episode_id is None:
            _write(lambda notes: notes.tag_run(run_id, tags), retry=False)
        else:
            _write(lambda notes: notes.tag_episode(episode_id, tags), retry=False)

    st.session_state[key] = tags
    st.multiselect("Tags", tags, key=key, accept_new_options=True, on_change=keep, placeholder="Type a new tag")


def _note(note: NoteRow, episode_id: int | None) -> None:
    when = show.moment(note["created_at"])
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            stamp = when.strftime("%Y-%m-%d %H:%M UTC") if when else ""
            st.caption(f"{show.escaped(note['author'])}, {stamp}", width="content")
            if note["episode_id"] is not None and (episode_id is None or note["step_index"] is not None):
                label = f"episode {note['episode_id']}" if episode_id is None else ""
                label += "" if note["step_index"] is None else f" step {note['step_index']}"
                show.link(EPISODE_PAGE, label.strip(), "link", id=note["episode_id"], step=note["step_index"])
            if note["author"] == name() and st.button("Remove", key=f"note_remove_{note['id']}", type="tertiary"):
                _write(lambda notes: notes.remove(note["id"], author=name()))
        st.text(note["body"])


def _write(work: Callable[[Notes], object], *, retry: bool = True) -> None:
    write(Notes, work, retry=retry)
