"""Tasks by the results of entrants: how hard, how flaky, perhaps defective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypedDict, cast

from sqlalchemy import Engine, select

from stackrank.db.connection.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants
from stackrank.db.queries.boards.scope_description import describe
from stackrank.db.queries.catalogue import task as find_task
from stackrank.db.queries.labels import disputed, labels
from stackrank.db.queries.reading import Row, fetch
from stackrank.db.totals.sums import Sums, total
from stackrank.wording import count_of

_E = EPISODE.c
_SUSPECT_EPISODES, _SUSPECT_ENTRANTS = 4, 2
"""A task is suspect if at least this many episodes of at least this many entrants failed and none resolved it."""
_SUSPECT_PEOPLE = 2


class TaskRate(TypedDict):
    """A task and how many `entrants` played it. `flaky`: how many of them resolved it in some attempts only.

    `rate` is over all counted episodes; `suspect` says why the task may be defective, `disputed_by` who says so.
    """

    task: str
    task_id: int
    disputed_by: list[str]
    title: str
    category: str
    difficulty: str
    measured: dict[str, Any] | None
    valid: bool | None
    entrants: int
    resolved: int
    unresolved: int
    errors: int
    rate: float | None
    flaky: int
    suspect: str


def task_rates(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[TaskRate]:
    """Return a row per task of the scope that was played, hardest first."""
    selection = scope.find(engine)
    cells = selection.cells()
    of_benchmark = TASK.c.benchmark_id.in_({row["benchmark_id"] for row in selection.tasks})
    measured = {
        row["id"]: row["measured"] for row in fetch(engine, select(TASK.c.id, TASK.c.measured).where(of_benchmark))
    }
    rates, disputes = [], disputed(engine)
    for fact in {(row["name"], row["digest"]): row for row in selection.tasks}.values():
        key = (fact["name"], fact["digest"])
        sides = [tasks[key] for tasks in cells.values() if key in tasks and tasks[key].done]
        if sides:
            columns = {name: fact[name] for name in ("title", "category", "difficulty", "valid")}
            columns |= {"measured": measured[fact["id"]], "entrants": len(sides), **_sum_columns(sides)}
            people = disputes.get(key, [])
            row = {"task": fact["name"], "task_id": fact["id"], "disputed_by": people, **columns}
            rates.append(cast("TaskRate", {**row, "suspect": suspicion(fact, sides, people)}))
    return sorted(rates, key=lambda row: (row["rate"] is None, row["rate"] or 0.0, row["task"]))


def _sum_columns(sides: Sequence[Sums]) -> Row:
    sums = total(sides)
    flaky = sum(bool(side.resolved and side.unresolved) for side in sides)
    verdicts = {"resolved": sums.resolved, "unresolved": sums.unresolved, "errors": sums.errors}
    return {**verdicts, "rate": sums.rate, "flaky": flaky}


def suspicion(task: Mapping[str, Any], sides: Sequence[Sums], disputed_by: Sequence[str] = ()) -> str:
    """Say why a task may be defective; empty if nothing suggests that it is.

    `sides` are the sums of its entrants. A dispute by two people is enough.
    """
    if task["valid"] is False:
        return f"Its validation failed: {task['invalid_reason'] or 'no reason was stored'}"
    if len(disputed_by) >= _SUSPECT_PEOPLE:
        return f"{len(disputed_by)} people dispute it: {', '.join(disputed_by)}."
    playing = [side for side in sides if side.counted]
    episodes = sum(side.unresolved for side in playing)
    if any(side.resolved for side in playing) or len(playing) < _SUSPECT_ENTRANTS or episodes < _SUSPECT_EPISODES:
        return ""
    return (
        f"None of {count_of(episodes, 'episode')} by {count_of(len(playing), 'entrant')} resolved it: it may "
        "be defective, or just hard."
    )


def task_board(engine: Engine, task_id: int, scope: Scope = DEFAULT_SCOPE, *, limit: int = 1000) -> Row:
    """Return the results of one task in the runs of a scope, and its newest counted episodes in all runs.

    It has the columns of `task`; `scope`, as from `describe_scope`, for this version of the benchmark, whichever is
    asked for; `entrants` (a row each: entrant_id, entrant, resolved, unresolved, errors, rate, flaky (0 or 1), and
    `attempts`, those of their episodes that are in the scope and among the newest, oldest first); the sums over them;
    `labels` (see `labels`); `suspect` (see `suspicion`); and `episodes` (newest first; id, run_id, run, entrant_id,
    entrant, attempt, verdict, failure_point, steps, cost_usd, tags, in_scope). A task that is unchanged in other
    versions of its benchmark is the same task. Raises as `Scope.find` does, and `NotFound`.
    """
    task = find_task(engine, task_id)
    if scope.run is None:
        version = TASK.c.benchmark_id == BENCHMARK.c.id
        digest = fetch(engine, select(BENCHMARK.c.digest).where(version, TASK.c.id == task_id))[0]["digest"]
        scope = replace(scope, benchmark=task["benchmark"], version=digest)
    selection = scope.find(engine)
    same_task = (TASK.c.name == task["name"], TASK.c.digest == task["digest"], BENCHMARK.c.name == task["benchmark"])
    names = (
        "id",
        "run_id",
        "task_id",
        "entrant_id",
        "attempt",
        "verdict",
        "failure_point",
        "steps",
        "cost_usd",
        "tags",
    )
    query = (
        select(*(_E[name] for name in names), ENTRANT.c.name.label("entrant"), RUN.c.name.label("run"))
        .join(ENTRANT, ENTRANT.c.id == _E.entrant_id)
        .join(RUN, RUN.c.id == _E.run_id)
        .where(_E.task_id.in_(select(TASK.c.id).join(BENCHMARK).where(*same_task)), _E.counted, _E.verdict != "")
        .order_by(_E.id.desc())
        .limit(limit)
    )
    episodes = fetch(engine, query)
    attempts: dict[int, list[Row]] = {}
    for row in reversed(episodes):
        row["in_scope"] = row.pop("task_id") == task_id and row["run_id"] in selection.runs
        if row["in_scope"]:
            attempts.setdefault(row["entrant_id"], []).append(row)
    # These sums are shown whether or not the task counts, because the page is about it.
    sides = {entrant: sums for entrant, played, sums in selection.sums() if played == task_id and sums.done}
    entrant_rows = fetch_entrants(engine, sides)
    entrants = [
        {
            "entrant_id": entrant_id,
            "entrant": entrant_rows[entrant_id]["name"],
            "attempts": attempts.get(entrant_id, []),
            **_sum_columns([sums]),
        }
        for entrant_id, sums in sides.items()
    ]
    entrants.sort(key=lambda side: (side["rate"] is None, -(side["rate"] or 0.0), side["entrant"]))
    played = list(sides.values())
    return {
        **task,
        "scope": describe(selection, selection.cells()),
        "episodes": episodes,
        "entrants": entrants,
        **_sum_columns(played),
        "labels": labels(engine, task=(task["name"], task["digest"])),
        "suspect": suspicion(task, played, disputed(engine).get((task["name"], task["digest"]), [])),
    }
