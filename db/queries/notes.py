"""Queries about the team's notes."""

from __future__ import annotations

from sqlalchemy import Engine, select

from stackrank.db import rows
from stackrank.db.connection.transactions import NOTE
from stackrank.db.queries.reading import fetch


def notes(
    engine: Engine, *, run_id: int | None = None, episode_id: int | None = None, limit: int = 200
) -> list[rows.Note]:
    """Return the newest `limit` notes, oldest first: of a run and its episodes, of one episode, or all."""
    query = select(NOTE).order_by(NOTE.c.id.desc()).limit(limit)
    if run_id is not None:
        query = query.where(NOTE.c.run_id == run_id)
    if episode_id is not None:
        query = query.where(NOTE.c.episode_id == episode_id)
    return fetch(engine, query, rows.Note)[::-1]
