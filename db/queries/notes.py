"""Queries about the team's notes."""

from __future__ import annotations

from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import NOTE
from stackrank.db.queries.reading import fetch


class NoteRow(TypedDict):
    """What a member of the team wrote."""

    id: int
    run_id: int
    episode_id: int | None
    step_index: int | None
    author: str
    body: str
    created_at: str | None


def notes(
    engine: Engine, *, run_id: int | None = None, episode_id: int | None = None, limit: int = 200
) -> list[NoteRow]:
    """Return the newest `limit` notes, oldest first: of a run and its episodes, of one episode, or all."""
    query = select(NOTE).order_by(NOTE.c.id.desc()).limit(limit)
    if run_id is not None:
        query = query.where(NOTE.c.run_id == run_id)
    if episode_id is not None:
        query = query.where(NOTE.c.episode_id == episode_id)
    return fetch(engine, query, NoteRow)[::-1]
