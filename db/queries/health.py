"""Whether the infrastructure does its work."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Engine, case, func, select

from db.columns import now
from db.models import RunStatus, Verdict
from db.queries.reading import Row, fetch
from db.transactions import EPISODE, RUN

_E = EPISODE.c
SILENT_S = 60.0
"""Seconds without a sign of life after which a run counts as stalled."""


def health(engine: Engine, *, runs: int = 10) -> Row:
    """How the infrastructure held in the newest `runs` runs.

    `runs`, `done` (episodes with a verdict), `errors`, `error_rate`, `retried` (tries that were repeated),
    `interruptions` (episodes cut off and continued), `stalled` [{id, name, heartbeat_at}] (runs that should go on and
    were not heard of for a minute), and `reasons` [{what, episodes, example}], the commonest errors.
    """
    newest = [row["id"] for row in fetch(engine, select(RUN.c.id).order_by(RUN.c.id.desc()).limit(runs))]
    counted = _E.counted & (_E.verdict != "")
    failed = _E.verdict == Verdict.ERROR
    sums = select(
        func.coalesce(func.sum(case((counted, 1), else_=0)), 0).label("done"),
        func.coalesce(func.sum(case((_E.counted & failed, 1), else_=0)), 0).label("errors"),
        func.coalesce(func.sum(case((_E.counted, 0), else_=1)), 0).label("retried"),
    ).where(_E.run_id.in_(newest))
    found = fetch(engine, sums)[0]
    cut_off = select(func.coalesce(func.sum(_E.interruptions), 0).label("n")).where(_E.run_id.in_(newest))
    what = func.substr(_E.error, 1, 120).label("what")
    reasons = (
        select(what, func.count().label("episodes"), func.max(_E.id).label("example"))
        .where(_E.run_id.in_(newest), failed)
        .group_by(what)
        .order_by(func.count().desc())
        .limit(5)
    )
    heard = func.coalesce(RUN.c.heartbeat_at, RUN.c.started_at, RUN.c.created_at)
    silent = (RUN.c.status == RunStatus.RUNNING) & (heard < now() - timedelta(seconds=SILENT_S))
    return {
        "runs": len(newest),
        **found,
        "error_rate": found["errors"] / found["done"] if found["done"] else None,
        "interruptions": fetch(engine, cut_off)[0]["n"],
        "stalled": fetch(engine, select(RUN.c.id, RUN.c.name, RUN.c.heartbeat_at).where(silent).order_by(RUN.c.id)),
        "reasons": fetch(engine, reasons),
    }
