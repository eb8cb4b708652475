"""The tables of notes on runs, episodes and steps, of labels on episodes and tasks, and of saved views."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field, SQLModel

from stackrank.db.models.columns import counts, key, long_text, one_of, ref, when
from stackrank.terms import Label


class Note(SQLModel, table=True):
    """What a member of the team says about a run, an episode or a step."""

    __table_args__ = (counts("step_index"),)

    id: int | None = key()
    run_id: int = ref("run.id", index=True)
    # If both are empty, the note is about the run; if only `step_index` is empty, it is about the episode.
    episode_id: int | None = ref("episode.id", default=None, index=True)
    step_index: int | None = None
    author: str = ""
    body: str = long_text()
    created_at: datetime | None = when()


class LabelRecord(SQLModel, table=True):
    """A label that somebody gave or took back. Rows are appended, never changed: a person's newest row holds."""

    __tablename__ = "label"
    __table_args__ = (one_of("label", Label),)

    id: int | None = key()
    task_id: int = ref("task.id", index=True)
    # None: the label is about the task itself.
    episode_id: int | None = ref("episode.id", default=None, index=True)
    label: str
    # False: this person takes the label back.
    is_set: bool = True
    person: str
    reason: str = long_text()
    created_at: datetime | None = when()


class SavedView(SQLModel, table=True):
    """A page's filters under a name. Rows are appended, never changed: the newest row of a page and a name holds."""

    __tablename__ = "saved_view"

    id: int | None = key()
    page: str = Field(index=True)
    name: str
    # The part of the address after the question mark; empty if the view was removed.
    address: str = long_text()
    person: str
    created_at: datetime | None = when()
