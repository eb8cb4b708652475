"""Queries about verdicts: the verdict of record, and those from scoring an episode again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypedDict, cast

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import CHANGE, ENTRANT, EPISODE, FAULT_VERDICT, TASK, VERDICTS
from stackrank.db.queries.reading import fetch, fetch_tuples

_V, _F = VERDICTS.c, FAULT_VERDICT.c
_SUMMARY_COLUMNS = [column for column in _V if column.name not in {"tests", "notes"}]


class VerdictSummary(TypedDict):
    """One verdict on an episode's work, without its tests. `of_record`: given when the episode was played. `faults`:
    which of several are mended, by their names; empty for a task with one."""

    id: int
    episode_id: int
    of_record: bool
    task_digest: str
    workspace: str
    change: str
    scorer: str
    environment: str
    resolved: bool
    tampered: bool
    sealed: int
    unsealed: str
    faults: dict[str, bool]
    created_at: str | None


class RescoredVerdict(VerdictSummary):
    """A verdict from scoring again, with its task and entrant, and the verdict from when the episode was `played`."""

    task: str
    entrant: str
    played: str


class VerdictRow(VerdictSummary):
    """A verdict with the outcome of each test and what the scorer noted."""

    tests: dict[str, str]
    notes: list[str]


class FaultRow(TypedDict):
    """The verdict on one of several faults. `step`: the last one that changed its files if it is mended, by which
    `tokens` and `cost_usd` had been used; `cost_usd` is None if a price is unknown, too."""

    name: str
    mended: bool
    sealed: int
    unsealed: str
    step: int | None
    tokens: int | None
    cost_usd: float | None


def verdicts(engine: Engine, episode_id: int) -> list[VerdictRow]:
    """Return all verdicts on an episode's work, oldest first."""
    query = select(VERDICTS).where(_V.episode_id == episode_id).order_by(_V.id)
    return fetch(engine, query, VerdictRow)


def fault_verdicts(engine: Engine, episodes: Iterable[int]) -> dict[int, list[FaultRow]]:
    """Return the verdicts on the faults of episodes whose task has several, by episode, in the order of their names."""
    columns = [FAULT_VERDICT.c[name] for name in FaultRow.__annotations__]
    query = select(_F.episode_id, *columns).where(_F.episode_id.in_(list(episodes))).order_by(_F.episode_id, _F.name)
    by_episode: dict[int, list[FaultRow]] = defaultdict(list)
    for row in fetch(engine, query):
        by_episode[row.pop("episode_id")].append(cast("FaultRow", row))
    return by_episode


def rescored_verdicts(engine: Engine, run_id: int, scorer: str | None = None) -> list[RescoredVerdict]:
    """Return the verdicts from scoring the episodes of a run again, by this scorer or by any, oldest first."""
    names = (TASK.c.name.label("task"), ENTRANT.c.name.label("entrant"), EPISODE.c.verdict.label("played"))
    query = select(*_SUMMARY_COLUMNS, *names).join(EPISODE, EPISODE.c.id == _V.episode_id)
    query = query.join(TASK, TASK.c.id == EPISODE.c.task_id).join(ENTRANT, ENTRANT.c.id == EPISODE.c.entrant_id)
    query = query.where(EPISODE.c.run_id == run_id, EPISODE.c.counted, ~_V.of_record).order_by(_V.id)
    return fetch(engine, query if scorer is None else query.where(_V.scorer == scorer), RescoredVerdict)


def stored_change(engine: Engine, digest: str) -> bytes | None:
    """Return the bytes of a stored change; None if there is no such change."""
    rows = fetch_tuples(engine, select(CHANGE.c.content).where(CHANGE.c.digest == digest))
    return rows[0][0] if rows else None
