"""Which episodes a question about entrants is about, and their sums per entrant and task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypedDict

from sqlalchemy import Engine, case, func, select
from sqlalchemy.sql import ColumnElement

from db.models import Verdict
from db.queries.reading import Row, as_list, fetch, fetch_one, tuples
from db.queries.runs import has_tag
from db.queries.runs import run as find_run
from db.storable import storable_text
from db.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK

_E = EPISODE.c
SUMS = ("resolved", "unresolved", "errors", "steps", "tokens_in", "tokens_out", "cost_usd", "priced", "wall_s")


_FEW_RUNS = 3


class ScopeOptions(TypedDict, total=False):
    """The keywords by which a question says which episodes it is about; what they mean stands at `leaderboard`."""

    run: int | str | Iterable[int | str] | None
    benchmark: str | None
    leaderboard: str | None
    tags: str | Iterable[str]
    last: int | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which episodes a question is about."""

    runs: tuple[int, ...]
    benchmark: str
    """Empty: all tasks of the runs count. Else those that the newest version of this benchmark still has."""

    @property
    def condition(self) -> ColumnElement[bool]:
        """That an episode is one of these runs'."""
        return _E.run_id.in_(self.runs)

    def grouped(self, engine: Engine) -> ColumnElement[bool]:
        """The same, for a question about all runs together that is grouped by entrant and task.

        Asked for many runs, SQLite would find each by an index and sort all their episodes. A sum in the place of the
        column keeps it from that: it reads the index that is in the order of the groups.
        """
        if engine.dialect.name == "sqlite" and len(self.runs) > _FEW_RUNS:
            return (_E.run_id + 0).in_(self.runs)
        return self.condition


def find_scope(
    engine: Engine,
    run: int | str | Iterable[int | str] | None = None,
    benchmark: str | None = None,
    leaderboard: str | None = None,
    tags: str | Iterable[str] = (),
    last: int | None = None,
) -> Scope | None:
    """What a leaderboard with these arguments is about; None when there is nothing to ask about."""
    if run is not None:
        refs = [run] if isinstance(run, int | str) else list(run)
        return Scope(tuple(find_run(engine, ref)["id"] for ref in refs), "")
    conditions: list[ColumnElement[bool]] = [has_tag(engine, tag) for tag in as_list(tags)]
    if leaderboard:
        conditions.append(RUN.c.leaderboard == storable_text(leaderboard))
    if benchmark:
        conditions.append(BENCHMARK.c.name == storable_text(benchmark))
    base = select(RUN.c.id, BENCHMARK.c.name.label("benchmark")).join(BENCHMARK).where(*conditions)
    newest = fetch_one(engine, base.order_by(RUN.c.id.desc()))
    if newest is None:
        return None
    chosen = base.where(BENCHMARK.c.name == newest["benchmark"]).with_only_columns(RUN.c.id)
    if last is not None:
        chosen = chosen.order_by(RUN.c.id.desc()).limit(last)
    return Scope(tuple(row["id"] for row in fetch(engine, chosen)), newest["benchmark"])


def cells_of(engine: Engine, scope: Scope, entrants: Iterable[int] | None = None) -> dict[int, dict[Any, Row]]:
    """Sums per entrant and task: {entrant id: {task key: sums}}. A task keeps its key from version to version.

    `entrants`: only of those.
    """
    scored = _E.verdict != Verdict.ERROR

    def total(value: Any, condition: ColumnElement[bool] = scored) -> ColumnElement[Any]:
        return func.coalesce(func.sum(case((condition, value), else_=0)), 0)

    query = (
        select(
            _E.entrant_id,
            _E.task_id,
            total(1, _E.verdict == Verdict.RESOLVED).label("resolved"),
            total(1, _E.verdict == Verdict.UNRESOLVED).label("unresolved"),
            total(1, _E.verdict == Verdict.ERROR).label("errors"),
            total(_E.steps).label("steps"),
            total(_E.tokens_in).label("tokens_in"),
            total(_E.tokens_out).label("tokens_out"),
            total(func.coalesce(_E.cost_usd, 0.0)).label("cost_usd"),
            total(1, scored & _E.cost_usd.is_not(None)).label("priced"),
            total(_E.wall_s).label("wall_s"),
        )
        .where(scope.grouped(engine), _E.counted, _E.verdict != "")
        .group_by(_E.entrant_id, _E.task_id)
    )
    if entrants is not None:
        query = query.where(_E.entrant_id.in_(list(entrants)))
    keys = task_keys(engine, scope)
    cells: dict[int, dict[Any, Row]] = defaultdict(dict)
    for entrant_id, task_id, *values in tuples(engine, query):
        key = keys.get(task_id)
        if key is None:
            continue
        sums = cells[entrant_id].get(key)
        if sums is None:
            cells[entrant_id][key] = dict(zip(SUMS, values, strict=True))
        else:
            for name, value in zip(SUMS, values, strict=True):
                sums[name] += value
    return cells


def task_keys(engine: Engine, scope: Scope) -> dict[int, Any]:
    """Task id -> (name, digest), for the tasks that count in this scope."""
    return {row["id"]: (row["name"], row["digest"]) for row in tasks_of(engine, scope)}


def tasks_of(engine: Engine, scope: Scope) -> list[Row]:
    """The rows of the tasks that count in this scope, in the order of their ids; no texts."""
    names = ("id", "name", "title", "digest", "benchmark_id", "category", "difficulty", "valid", "invalid_reason")
    columns = [TASK.c[name] for name in names]
    if not scope.benchmark:
        played = select(RUN.c.benchmark_id).join(EPISODE, _E.run_id == RUN.c.id).where(scope.condition)
        return fetch(engine, select(*columns).where(TASK.c.benchmark_id.in_(played)).order_by(TASK.c.id))
    versions = select(*columns).join(BENCHMARK).where(BENCHMARK.c.name == scope.benchmark).order_by(TASK.c.id)
    rows = fetch(engine, versions)
    newest = max((row["benchmark_id"] for row in rows), default=0)
    # A task that was changed is another task, and one found to be defective says nothing about an entrant.
    now = {(row["name"], row["digest"]) for row in rows if row["benchmark_id"] == newest and row["valid"] is not False}
    return [row for row in rows if (row["name"], row["digest"]) in now]


def entrants_of(engine: Engine, ids: Iterable[int]) -> dict[int, Row]:
    """The rows of these entrants by id."""
    return {row["id"]: row for row in fetch(engine, select(ENTRANT).where(ENTRANT.c.id.in_(list(ids))))}
