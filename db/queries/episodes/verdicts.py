"""Queries about verdicts: the verdict of record, and those from scoring an episode again."""

from __future__ import annotations

from sqlalchemy import Engine, select

from stackrank.db import rows
from stackrank.db.connection.transactions import CHANGE, ENTRANT, EPISODE, TASK, VERDICTS
from stackrank.db.queries.reading import fetch, tuples

_V = VERDICTS.c
_LISTED = [column for column in _V if column.name not in {"tests", "notes"}]


def verdicts(engine: Engine, episode_id: int) -> list[rows.Verdict]:
    """Return all verdicts on an episode's work, oldest first."""
    query = select(VERDICTS).where(_V.episode_id == episode_id).order_by(_V.id)
    return fetch(engine, query, rows.Verdict)


def verdicts_again(engine: Engine, run_id: int, scorer: str | None = None) -> list[rows.VerdictAgain]:
    """Return the verdicts from scoring the episodes of a run again, by this scorer or by any, oldest first."""
    about = (TASK.c.name.label("task"), ENTRANT.c.name.label("entrant"), EPISODE.c.verdict.label("played"))
    query = select(*_LISTED, *about).join(EPISODE, EPISODE.c.id == _V.episode_id)
    query = query.join(TASK, TASK.c.id == EPISODE.c.task_id).join(ENTRANT, ENTRANT.c.id == EPISODE.c.entrant_id)
    query = query.where(EPISODE.c.run_id == run_id, EPISODE.c.counted, ~_V.of_record).order_by(_V.id)
    return fetch(engine, query if scorer is None else query.where(_V.scorer == scorer), rows.VerdictAgain)


def change(engine: Engine, digest: str) -> bytes | None:
    """Return the bytes of a stored change; None if there is no such change."""
    found = tuples(engine, select(CHANGE.c.content).where(CHANGE.c.digest == digest))
    return found[0][0] if found else None
