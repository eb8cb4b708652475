"""What a reader can choose as the scope of a board: the values that stored runs have."""

from __future__ import annotations

from typing import TypedDict

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import BENCHMARK, RUN
from stackrank.db.queries.boards.pooling import find_leading_run
from stackrank.db.queries.boards.scope import Scope
from stackrank.db.queries.reading import Json, fetch
from stackrank.db.queries.runs import progress
from stackrank.terms import RunStatus


class ScopeChoice(TypedDict):
    """A run, by what a scope can ask for. `version`: the digest of its benchmark."""

    run: int
    status: str
    benchmark: str
    version: str
    conditions: Json
    conditions_digest: str
    series: str
    owner: str
    tags: list[str]


def scope_choices(engine: Engine) -> list[ScopeChoice]:
    """Return what a scope can ask for of each run, newest first."""
    columns = (RUN.c[name] for name in ("status", "conditions", "conditions_digest", "series", "owner", "tags"))
    names = (RUN.c.id.label("run"), BENCHMARK.c.name.label("benchmark"), BENCHMARK.c.digest.label("version"))
    return fetch(engine, select(*names, *columns).join(BENCHMARK).order_by(RUN.c.id.desc()), ScopeChoice)


def usual_benchmark(engine: Engine) -> str:
    """Return the benchmark of the run that leads boards if nobody asks for another one; empty without runs."""
    lead = find_leading_run(engine, [])
    return lead.benchmark if lead else ""


def pulse(engine: Engine, scope: Scope | None = None) -> tuple[tuple[int, str, int], ...]:
    """Return what changes as soon as a page with this scope is out of date: id, status and finished episodes of runs.

    They are the runs that are being played and the newest one. The finished episodes count only in runs of the scope;
    None: in every run.
    """
    newest = select(RUN.c.id).order_by(RUN.c.id.desc()).limit(1).scalar_subquery()
    playing = RUN.c.status.in_([status for status in RunStatus if not status.ended])
    pooled = None if scope is None else scope.find(engine).runs
    query = select(RUN.c.id, RUN.c.status).where(playing | (RUN.c.id == newest)).order_by(RUN.c.id)
    return tuple(
        (row["id"], row["status"], progress(engine, row["id"])["done"] if pooled is None or row["id"] in pooled else 0)
        for row in fetch(engine, query)
    )
