"""How much more attempts, steps or money help."""

from __future__ import annotations

from typing import Literal, Unpack

from sqlalchemy import Engine, case, func, select

from db import stats
from db.models import Verdict
from db.queries.reading import Row, fetch
from db.queries.scope import ScopeOptions, cells_of, entrants_of, find_scope, task_keys
from db.transactions import EPISODE

_E = EPISODE.c
_MOST_ATTEMPTS = 10
_CURVE_POINTS = 120


def reliability(engine: Engine, **options: Unpack[ScopeOptions]) -> list[Row]:
    """pass@k and all-k of every entrant for k = 1, 2, ... up to the most attempts that any task had (at most 10).

    A row per entrant and k: entrant_id, entrant, k, tasks (with k attempts or more), pass_at_k, pass_low, pass_high,
    all_k, all_low, all_high. The scope is chosen as in `leaderboard`, whose attempts over several runs add up.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    cells = cells_of(engine, scope)
    rows = []
    for entrant in sorted(entrants_of(engine, cells).values(), key=lambda entrant: str(entrant["name"])):
        tasks = list(cells[entrant["id"]].values())
        resolved = [task["resolved"] for task in tasks]
        counted = [task["resolved"] + task["unresolved"] for task in tasks]
        for k in range(1, min(_MOST_ATTEMPTS, max(counted, default=0)) + 1):
            found = stats.reliability(resolved, counted, k)
            row = {"entrant_id": entrant["id"], "entrant": entrant["name"], "k": k, "tasks": found.tasks}
            one, every = found.pass_at_k, found.all_k
            row |= {"pass_at_k": one.rate, "pass_low": one.low, "pass_high": one.high}
            rows.append(row | {"all_k": every.rate, "all_low": every.low, "all_high": every.high})
    return rows


def budget_curves(
    engine: Engine, by: Literal["steps", "cost_usd"] = "steps", **options: Unpack[ScopeOptions]
) -> list[Row]:
    """What share of the counted episodes each entrant had resolved with a budget of so many steps or dollars.

    A row per entrant: entrant_id, entrant, counted, curve [[budget, share]] in rising order. By cost an entrant with
    an unknown price has none and is left out. The scope is chosen as in `leaderboard`.
    """
    scope = find_scope(engine, **options)
    if scope is None:
        return []
    keys = task_keys(engine, scope)
    column = _E[by]
    solved = func.sum(case((_E.verdict == Verdict.RESOLVED, 1), else_=0))
    groups = (_E.entrant_id, _E.task_id, column)
    query = (
        select(*groups, solved.label("resolved"), func.count().label("counted"))
        .where(scope.condition, _E.counted, _E.verdict.in_([Verdict.RESOLVED, Verdict.UNRESOLVED]))
        .group_by(*groups)
        .order_by(column)
    )
    spent: dict[int, list[Row]] = {}
    for row in fetch(engine, query):
        if row["task_id"] in keys:
            spent.setdefault(row["entrant_id"], []).append(row)
    known = {one: rows for one, rows in spent.items() if all(row[by] is not None for row in rows)}
    names = entrants_of(engine, known)
    return [
        {
            "entrant_id": one,
            "entrant": names[one]["name"],
            "counted": sum(row["counted"] for row in known[one]),
            "curve": _curve(known[one], by),
        }
        for one in sorted(known, key=lambda one: str(names[one]["name"]))
    ]


def _curve(rows: list[Row], by: str) -> list[list[float]]:
    counted, resolved = sum(row["counted"] for row in rows), 0
    points: list[list[float]] = []
    for row in rows:
        resolved += row["resolved"]
        if points and points[-1][0] == row[by]:
            points[-1][1] = resolved / counted
        elif row["resolved"] or row is rows[-1]:
            points.append([row[by], resolved / counted])
    every = max(1, len(points) // _CURVE_POINTS)
    return [point for index, point in enumerate(points) if index % every == 0 or index == len(points) - 1]
