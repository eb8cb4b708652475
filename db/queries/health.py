"""Whether the infrastructure works."""

from __future__ import annotations

from typing import TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import EPISODE, RUN
from stackrank.db.queries.episodes.funnel import FailureCount
from stackrank.db.queries.reading import ERROR_HEAD, fetch
from stackrank.host.wall_clock import moment_ago
from stackrank.settings import settings
from stackrank.terms import RunStatus, Verdict

_E = EPISODE.c


class StalledRun(TypedDict):
    """A running run without a recent heartbeat."""

    id: int
    name: str
    heartbeat_at: str | None


class HealthReport(TypedDict):
    """How well the infrastructure worked in the newest `runs` runs.

    `done`: episodes with a verdict; `retried`: tries that were repeated; `interruptions`: how often an episode was cut
    off and continued; `reasons`: the most common errors.
    """

    runs: int
    done: int
    errors: int
    error_rate: float | None
    retried: int
    interruptions: int
    stalled: list[StalledRun]
    reasons: list[FailureCount]


def health(engine: Engine, *, runs: int = 10) -> HealthReport:
    """Return how well the infrastructure worked in the newest `runs` runs."""
    newest = [row["id"] for row in fetch(engine, select(RUN.c.id).order_by(RUN.c.id.desc()).limit(runs))]
    counted = _E.counted & (_E.verdict != "")
    failed = _E.verdict == Verdict.ERROR
    sums = select(
        func.coalesce(func.sum(case((counted, 1), else_=0)), 0).label("done"),
        func.coalesce(func.sum(case((_E.counted & failed, 1), else_=0)), 0).label("errors"),
        func.coalesce(func.sum(case((_E.counted, 0), else_=1)), 0).label("retried"),
        func.coalesce(func.sum(_E.interruptions), 0).label("interruptions"),
    ).where(_E.run_id.in_(newest))
    totals = fetch(engine, sums)[0]
    message = ERROR_HEAD.label("what")
    reasons = (
        select(message, func.count().label("episodes"), func.max(_E.id).label("example"))
        .where(_E.run_id.in_(newest), failed)
        .group_by(message)
        .order_by(func.count().desc())
        .limit(5)
    )
    last_heartbeat = func.coalesce(RUN.c.heartbeat_at, RUN.c.started_at, RUN.c.created_at)
    is_silent = (RUN.c.status == RunStatus.RUNNING) & (last_heartbeat < moment_ago(seconds=settings().run_silent_s))
    stalled = select(RUN.c.id, RUN.c.name, RUN.c.heartbeat_at).where(is_silent).order_by(RUN.c.id)
    return {
        "runs": len(newest),
        "done": totals["done"],
        "errors": totals["errors"],
        "error_rate": totals["errors"] / totals["done"] if totals["done"] else None,
        "retried": totals["retried"],
        "interruptions": totals["interruptions"],
        "stalled": fetch(engine, stalled, StalledRun),
        "reasons": fetch(engine, reasons, FailureCount),
    }
