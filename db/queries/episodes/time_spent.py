"""Where the time of episodes went, as measured while they were played."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import Engine, func, select

from stackrank.db.connection.transactions import COUNTER, ENTRANT, EPISODE, OPEN, RUN
from stackrank.db.queries.reading import fetch
from stackrank.host.wall_clock import seconds_since
from stackrank.terms import EpisodeStatus, RunStatus, Verdict

_E = EPISODE.c
MAX_EPISODES = 1000
"""Only this many of the newest episodes of a run are read: more would not change the shares."""


class TimeBreakdown(TypedDict):
    """Where the time of an episode went, in seconds; all but `queued_s` add up to `total_s`."""

    episode: int
    entrant: str
    queued_s: float
    """The wait before it began, while others were played."""
    total_s: float
    waited_s: float
    """The wait for its endpoint, because of limits and failed tries."""
    model_s: float
    sandbox_s: float
    """The time of its tools."""
    tests_s: float
    """The time of the verdict."""
    rest_s: float


def time_spent(engine: Engine, run_id: int) -> list[TimeBreakdown]:
    """Return where the time went in the newest episodes of a run that have a verdict, newest first."""
    times = (_E.created_at, _E.started_at, _E.ended_at, _E.model_ms, _E.env_ms, _E.score_ms, _E.usage)
    query = select(_E.id, ENTRANT.c.name.label("entrant"), RUN.c.started_at.label("run_started_at"), *times)
    query = query.join(ENTRANT, _E.entrant_id == ENTRANT.c.id).join(RUN, _E.run_id == RUN.c.id)
    is_scored = (_E.run_id == run_id, _E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
    rows = fetch(engine, query.where(*is_scored).order_by(_E.id.desc()).limit(MAX_EPISODES))
    return [split_time(row, row["run_started_at"]) for row in rows]


def split_time(episode: Mapping[str, Any], run_started_at: str | None) -> TimeBreakdown:
    """Return where the time of one episode went. `rest_s` is the time that was not measured.

    That is the time that its sandboxes took to start, the time in which it was interrupted, and delays on a busy
    machine.
    """
    started_at, ended_at = _parse_time(episode["started_at"]), _parse_time(episode["ended_at"])
    open_since = max(filter(None, (_parse_time(episode["created_at"]), _parse_time(run_started_at))), default=None)
    total_s = (ended_at - started_at).total_seconds() if started_at and ended_at else 0.0
    parts = {
        "waited_s": sum(usage.get("waited_ms") or 0.0 for usage in (episode["usage"] or {}).values()) / 1000,
        "model_s": episode["model_ms"] / 1000,
        "sandbox_s": episode["env_ms"] / 1000,
        "tests_s": episode["score_ms"] / 1000,
    }
    return {
        "episode": episode["id"],
        "entrant": episode["entrant"],
        "queued_s": max(0.0, (started_at - open_since).total_seconds()) if started_at and open_since else 0.0,
        "total_s": max(total_s, 0.0),
        **parts,  # type: ignore[typeddict-item]
        "rest_s": max(total_s - sum(parts.values()), 0.0),
    }


def queue_age_s(engine: Engine) -> float:
    """Return for how many seconds the episode that is next has waited; 0 if none waits.

    The wait counts from the start of the run's last started episode, or else from the start of the run.
    """
    pending = (COUNTER.c.run_id == RUN.c.id, COUNTER.c.counted, COUNTER.c.status == EpisodeStatus.PENDING)
    waits = select(func.sum(COUNTER.c.episodes)).where(*pending).scalar_subquery() > 0
    is_running = (_E.run_id == RUN.c.id, _E.status == EpisodeStatus.RUNNING, OPEN)
    last_start = select(func.max(_E.started_at)).where(*is_running).scalar_subquery()
    columns = (last_start.label("last"), RUN.c.started_at, RUN.c.created_at)
    rows = fetch(engine, select(*columns).where(RUN.c.status.in_([RunStatus.PENDING, RunStatus.RUNNING]), waits))
    waiting_since = [_parse_time(row["last"] or row["started_at"] or row["created_at"]) for row in rows]
    return max((seconds_since(moment) for moment in waiting_since if moment), default=0.0)


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
