"""Tasks as entrants see them: how hard, how flaky, perhaps defective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from sqlalchemy import Engine, select

from db.models import Verdict
from db.queries.catalogue import task as find_task
from db.queries.reading import Row, fetch
from db.queries.scope import ScopeOptions, cells_of, find_scope, tasks_of
from db.transactions import BENCHMARK, ENTRANT, EPISODE, RUN, TASK

_E = EPISODE.c
_SUSPECT_EPISODES, _SUSPECT_ENTRANTS = 4, 2
"""So many episodes of so many entrants without one resolved make a task suspect."""


def task_rates(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """A row per task of the scope (as in `leaderboard`) that somebody played, hardest first.

    task, task_id, title, category, difficulty, valid, entrants, resolved, unresolved, errors, rate (of all episodes),
    flaky (entrants that resolved it at some attempts only), suspect (see `suspicion`).
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    cells = cells_of(engine, scope)
    rows = []
    for fact in {(row["name"], row["digest"]): row for row in tasks_of(engine, scope)}.values():
        key = (fact["name"], fact["digest"])
        sides = [tasks[key] for tasks in cells.values() if key in tasks]
        if sides:
            about = {name: fact[name] for name in ("title", "category", "difficulty", "valid")}
            row = {"task": fact["name"], "task_id": fact["id"], **about, "entrants": len(sides), **_sums(sides)}
            rows.append({**row, "suspect": suspicion(fact, sides)})
    return sorted(rows, key=lambda row: (row["rate"] is None, row["rate"] or 0.0, row["task"]))


def _sums(sides: Sequence[Row]) -> Row:
    sums = {name: sum(side[name] for side in sides) for name in ("resolved", "unresolved", "errors")}
    counted = sums["resolved"] + sums["unresolved"]
    flaky = sum(bool(side["resolved"] and side["unresolved"]) for side in sides)
    return {**sums, "rate": sums["resolved"] / counted if counted else None, "flaky": flaky}


def suspicion(task: Row, sides: Sequence[Row]) -> str:
    """Why a task may be defective, as a sentence; empty for one that is above suspicion.

    `sides` are the sums of its entrants: resolved, unresolved, errors.
    """
    if task["valid"] is False:
        return f"Its validation failed: {task['invalid_reason'] or 'no reason was stored'}"
    playing = [side for side in sides if side["resolved"] + side["unresolved"]]
    episodes = sum(side["unresolved"] for side in playing)
    if any(side["resolved"] for side in playing) or len(playing) < _SUSPECT_ENTRANTS or episodes < _SUSPECT_EPISODES:
        return ""
    return f"None of {episodes} episodes by {len(playing)} entrants resolved it: it may be defective, or just hard."


def task_board(engine: Engine, task_id: int, *, limit: int = 1000) -> Row:
    """One task with all that was played on it: the columns of `task`, and its newest counted episodes.

    `episodes` (newest first; id, run_id, run, entrant_id, entrant, attempt, verdict, failure_point, steps, cost_usd,
    tags), `entrants` (a row each: entrant_id, entrant, resolved, unresolved, errors, rate, flaky (0 or 1), and
    `attempts`, their episodes oldest first), the sums over all, and `suspect` (see `suspicion`). A task that other
    versions of its benchmark have unchanged is the same task. Raises `NotFound`.
    """
    task = find_task(engine, task_id)
    same = (TASK.c.name == task["name"], TASK.c.digest == task["digest"], BENCHMARK.c.name == task["benchmark"])
    names = ("id", "run_id", "entrant_id", "attempt", "verdict", "failure_point", "steps", "cost_usd", "tags")
    query = (
        select(*(_E[name] for name in names), ENTRANT.c.name.label("entrant"), RUN.c.name.label("run"))
        .join(ENTRANT, ENTRANT.c.id == _E.entrant_id)
        .join(RUN, RUN.c.id == _E.run_id)
        .where(_E.task_id.in_(select(TASK.c.id).join(BENCHMARK).where(*same)), _E.counted, _E.verdict != "")
        .order_by(_E.id.desc())
        .limit(limit)
    )
    episodes = fetch(engine, query)
    sides: dict[int, Row] = {}
    for row in episodes:
        start = {"entrant_id": row["entrant_id"], "entrant": row["entrant"], "attempts": []}
        side = sides.setdefault(row["entrant_id"], {**start, "resolved": 0, "unresolved": 0, "errors": 0})
        side["errors" if row["verdict"] == Verdict.ERROR else row["verdict"]] += 1
        side["attempts"].insert(0, row)
    rows = [{**side, **_sums([side])} for side in sides.values()]
    rows.sort(key=lambda side: (side["rate"] is None, -(side["rate"] or 0.0), side["entrant"]))
    totals = _sums(rows)
    return {**task, "episodes": episodes, "entrants": rows, **totals, "suspect": suspicion(task, rows)}
