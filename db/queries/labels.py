"""Queries about what people say about tasks and episodes."""

from __future__ import annotations

from collections import defaultdict
from typing import TypedDict

from sqlalchemy import Engine, or_, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import EPISODE, LABEL, TASK, VIEW
from stackrank.db.queries.reading import fetch
from stackrank.db.totals.sums import TaskKey
from stackrank.terms import Label


class LabelRow(TypedDict):
    """A label that somebody gave a task (`episode_id` None) or an episode; `digest` is the task's."""

    id: int
    task_id: int
    task: str
    digest: str
    episode_id: int | None
    label: str
    is_set: bool
    person: str
    reason: str
    created_at: str | None


class ViewRow(TypedDict):
    """The filters of a page, saved under a name; `address` is the part of the address after the question mark."""

    id: int
    page: str
    name: str
    address: str
    person: str
    created_at: str | None


def labels(engine: Engine, *, task: TaskKey | None = None, episode_id: int | None = None) -> list[LabelRow]:
    """Return the labels that were not taken back, oldest first: of a task (name and digest), of an episode, or all.

    The labels of a task do not include those of its episodes. A task that is unchanged in other versions of its
    benchmark is the same task.
    """
    names = ("id", "task_id", "episode_id", "label", "is_set", "person", "reason", "created_at")
    query = select(*(LABEL.c[name] for name in names), TASK.c.name.label("task"), TASK.c.digest).join(TASK)
    if episode_id is not None:
        query = query.where(LABEL.c.episode_id == episode_id)
    if task is not None:
        query = query.where(TASK.c.name == task[0], TASK.c.digest == task[1], LABEL.c.episode_id.is_(None))
    newest = {}
    for row in fetch(engine, query.order_by(LABEL.c.id), LabelRow):
        subject = row["episode_id"] or (row["task"], row["digest"])
        newest[subject, row["label"], row["person"]] = row
    return sorted((row for row in newest.values() if row["is_set"]), key=lambda row: row["id"])


def disputed(engine: Engine) -> dict[TaskKey, list[str]]:
    """Return the tasks that people dispute: (name, digest) -> those people."""
    people_of: dict[TaskKey, list[str]] = defaultdict(list)
    for row in labels(engine):
        people = (
            people_of[row["task"], row["digest"]] if row["episode_id"] is None and Label(row["label"]).disputes else []
        )
        if row["person"] not in people:
            people.append(row["person"])
    return {key: people for key, people in people_of.items() if people}


def has_label(engine: Engine, names: tuple[str, ...]) -> ColumnElement[bool]:
    """Return the condition that an episode or its task has one of these labels."""
    rows = [row for row in labels(engine) if row["label"] in names]
    episodes = [row["episode_id"] for row in rows if row["episode_id"] is not None]
    task_ids = (
        select(TASK.c.id).where(TASK.c.name == row["task"], TASK.c.digest == row["digest"])
        for row in rows
        if row["episode_id"] is None
    )
    return or_(EPISODE.c.id.in_(episodes), *(EPISODE.c.task_id.in_(tasks) for tasks in task_ids))


def views(engine: Engine, page: str) -> list[ViewRow]:
    """Return the saved views of a page, by name."""
    query = select(VIEW).where(VIEW.c.page == page).order_by(VIEW.c.id)
    newest = {row["name"]: row for row in fetch(engine, query, ViewRow)}
    return sorted((row for row in newest.values() if row["address"]), key=lambda row: row["name"].casefold())
