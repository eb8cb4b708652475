"""Who is better: leaderboards and the summary of a run. All from totals on episode rows."""

from __future__ import annotations

from typing import Any, Unpack

from sqlalchemy import Engine, case, func, select

from db import stats
from db.models import Verdict
from db.queries.reading import Row, fetch, tuples
from db.queries.runs import run as find_run
from db.queries.scope import SUMS, ScopeOptions, cells_of, entrants_of, find_scope, task_keys
from db.transactions import ENTRANT, EPISODE

_E = EPISODE.c
_SUMMARY = [
    "entrant",
    "agent",
    "model",
    "tools",
    "episodes",
    "resolved",
    "unresolved",
    "errors",
    "rate",
    "ci_low",
    "ci_high",
    "steps_mean",
    "tokens_in",
    "tokens_out",
    "cost_usd",
]


def leaderboard(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """A row per entrant, best rate first; empty where nothing was played.

    `run` (one reference or several) takes exactly those runs. Without it come all runs, or the `last` so many, of one
    benchmark that carry this `leaderboard` name and all these `tags`: of `benchmark`, else of the benchmark of the
    newest such run. Then only tasks count that its newest version still has unchanged and that are not known to be
    defective. Further runs of a task are further attempts: the intervals are by task.

    Means, tokens and costs are over resolved and unresolved episodes. `cost_usd` is None when the price of any is
    unknown, `rate` and its interval when there is none. `all_attempts_rate`: share of the tasks of which every
    attempt was resolved. `tasks` of `tasks_total` were counted. Ranks are ranges: overlapping intervals tie.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    cells = cells_of(engine, scope)
    total = len({key for tasks in cells.values() for key in tasks})
    about = fetch(engine, select(ENTRANT).where(ENTRANT.c.id.in_(cells)))
    rows = [row_of(entrant, cells[entrant["id"]], total) for entrant in about]
    rows.sort(key=lambda row: (row["rate"] is None, -(row["rate"] or 0), -row["tasks"], row["entrant"]))
    ranges = stats.rank_ranges([stats.Rate(row["rate"], row["ci_low"], row["ci_high"]) for row in rows])
    for row, ranks in zip(rows, ranges, strict=True):
        row["rank_low"], row["rank_high"] = ranks or (None, None)
    return rows


def row_of(entrant: Row, tasks: dict[Any, Row], total: int) -> Row:
    """The row of one entrant from its sums per task; `total` is the number of tasks in question."""
    sums = {name: sum(task[name] for task in tasks.values()) for name in SUMS}
    counted = sums["resolved"] + sums["unresolved"]
    resolved = [task["resolved"] for task in tasks.values()]
    played = [task["resolved"] + task["unresolved"] for task in tasks.values()]
    with_verdict = sum(n > 0 for n in played)
    rate = stats.rate(resolved, played)
    cost = sums["cost_usd"] if counted and sums["priced"] == counted else None
    per_resolved = stats.Cost(None, None, None)
    if cost is not None:
        scored = [task for task, n in zip(tasks.values(), played, strict=True) if n]
        per_resolved = stats.cost_per_resolved(
            [task["cost_usd"] for task in scored], [task["resolved"] for task in scored]
        )
    always = sum(n > 0 and n == r for r, n in zip(resolved, played, strict=True))
    return {
        "entrant_id": entrant["id"],
        "entrant": entrant["name"],
        "agent": entrant["agent"],
        "agent_version": entrant["agent_version"],
        "model": entrant["model"],
        "tools": entrant["tools"],
        "episodes": counted + sums["errors"],
        "resolved": sums["resolved"],
        "unresolved": sums["unresolved"],
        "errors": sums["errors"],
        "rate": rate.rate,
        "ci_low": rate.low,
        "ci_high": rate.high,
        "all_attempts_rate": always / with_verdict if with_verdict else None,
        "steps_mean": sums["steps"] / counted if counted else None,
        "tokens_in": sums["tokens_in"],
        "tokens_out": sums["tokens_out"],
        "cost_usd": cost,
        "cost_per_resolved": per_resolved.cost,
        "cost_per_resolved_low": per_resolved.low,
        "cost_per_resolved_high": per_resolved.high,
        "wall_mean_s": sums["wall_s"] / counted if counted else None,
        "tasks": with_verdict,
        "tasks_total": total,
    }


def run_summary(engine: Engine, ref: int | str) -> Row:
    """The JSON document of a run, as the command line prints it. `episodes` are those with a verdict."""
    found = find_run(engine, ref)
    rows = leaderboard(engine, run=found["id"])
    return {
        "run": found["id"],
        "name": found["name"],
        "benchmark": found["benchmark"],
        "status": found["status"],
        "wall_s": found["wall_s"],
        "episodes": found["done"],
        "resolved": found["resolved"],
        "unresolved": found["unresolved"],
        "errors": found["errors"],
        "entrants": [{name: row[name] for name in _SUMMARY} for row in rows],
    }


def rate_history(engine: Engine, **options: Unpack[ScopeOptions]) -> dict[int, list[float]]:
    """The rate of every entrant in each of the runs of the scope (as in `leaderboard`), oldest first."""
    scope = find_scope(engine, **options)
    if scope is None:
        return {}
    resolved = func.sum(case((_E.verdict == Verdict.RESOLVED, 1), else_=0))
    query = (
        select(_E.entrant_id, _E.run_id, resolved.label("resolved"), func.count().label("counted"))
        .where(scope.condition, _E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
        .group_by(_E.entrant_id, _E.run_id)
        .order_by(_E.run_id)
    )
    history: dict[int, list[float]] = {}
    for row in fetch(engine, query):
        history.setdefault(row["entrant_id"], []).append(row["resolved"] / row["counted"])
    return history


def failure_points(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """Why each entrant failed: `failure_points` {name: episodes}, beside resolved, unresolved and errors.

    The scope is chosen as in `leaderboard`. An unresolved episode without a failure point counts as `unknown`.
    Raises `NotFound` for an unknown run.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    groups = (_E.entrant_id, _E.task_id, _E.verdict, _E.failure_point)
    query = (
        select(*groups, func.count().label("episodes"))
        .where(scope.grouped(engine), _E.counted, _E.verdict != "")
        .group_by(*groups)
    )
    keys = task_keys(engine, scope)
    found: dict[int, Row] = {}
    for entrant_id, task_id, verdict, failure_point, episodes in tuples(engine, query):
        if task_id not in keys:
            continue
        empty = {"entrant_id": entrant_id, "entrant": "", "resolved": 0, "unresolved": 0, "errors": 0}
        one = found.setdefault(entrant_id, {**empty, "failure_points": {}})
        one["errors" if verdict == Verdict.ERROR else verdict] += episodes
        if verdict == Verdict.UNRESOLVED:
            point = failure_point or "unknown"
            one["failure_points"][point] = one["failure_points"].get(point, 0) + episodes
    about = entrants_of(engine, found)
    rows: list[Row] = [{**row, "entrant": about[one]["name"]} for one, row in found.items()]
    return sorted(rows, key=lambda row: (row["entrant"], row["entrant_id"]))
