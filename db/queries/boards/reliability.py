"""How much additional attempts, steps or money help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.boards.consumption import By, Spent, spent
from stackrank.db.queries.boards.ranking import places
from stackrank.db.queries.boards.scope import EVERYTHING, Scope, entrants_of
from stackrank.db.totals.sums import Cells

_MOST_ATTEMPTS = 10
_CURVE_POINTS = 120


class ReliabilityRow(TypedDict):
    """pass@k and all-k of an entrant with their intervals, over the `tasks` with at least k attempts."""

    entrant_id: int
    entrant: str
    k: int
    tasks: int
    pass_at_k: float | None
    pass_low: float | None
    pass_high: float | None
    all_k: float | None
    all_low: float | None
    all_high: float | None


class BudgetCurve(TypedDict):
    """The share of an entrant's `counted` episodes resolved within each budget: [budget, share], by rising budget."""

    entrant_id: int
    entrant: str
    counted: int
    curve: list[list[float]]


def reliability(engine: Engine, scope: Scope = EVERYTHING) -> list[ReliabilityRow]:
    """Return a row per entrant and k = 1, 2, ..., at most 10, on the tasks of the leaderboard.

    An entrant's rows end where too few of its tasks had k attempts: over a few hard tasks that were played more often,
    pass@2 would be below pass@1.
    """
    cells = _on_board(engine, scope.find(engine).cells())
    board: list[ReliabilityRow] = []
    for entrant in sorted(entrants_of(engine, cells).values(), key=lambda entrant: str(entrant["name"])):
        tasks = [task for task in cells[entrant["id"]].values() if task.counted]
        resolved, counted = [task.resolved for task in tasks], [task.counted for task in tasks]
        for k in range(1, min(_MOST_ATTEMPTS, max(counted, default=0)) + 1):
            found = stats.reliability(resolved, counted, k)
            if found.tasks < stats.ENOUGH * len(tasks):
                break
            board.append(
                {
                    "entrant_id": entrant["id"],
                    "entrant": entrant["name"],
                    "k": k,
                    "tasks": found.tasks,
                    "pass_at_k": found.pass_at_k.rate,
                    "pass_low": found.pass_at_k.low,
                    "pass_high": found.pass_at_k.high,
                    "all_k": found.all_k.rate,
                    "all_low": found.all_k.low,
                    "all_high": found.all_k.high,
                }
            )
    return board


def _on_board(engine: Engine, cells: Mapping[int, Cells]) -> dict[int, Cells]:
    """Return those of each entrant's sums that its row of the leaderboard is about."""
    about = entrants_of(engine, cells)
    where = places({one: own for one, own in cells.items() if not about[one]["reference"]})
    return {one: where.on_board(one, own) for one, own in cells.items()}


def budget_curves(engine: Engine, scope: Scope = EVERYTHING, *, by: By = "steps") -> list[BudgetCurve]:
    """Return the rate that each entrant had within each budget of steps, tokens or dollars, on the leaderboard's tasks.

    By cost, an entrant with an unknown price is left out.
    """
    selection = scope.find(engine)
    found: dict[int, list[Spent]] = {}
    cells = _on_board(engine, selection.cells())
    for row in spent(selection, by):
        if selection.keys[row.task_id] in cells.get(row.entrant_id, {}):
            found.setdefault(row.entrant_id, []).append(row)
    known = {one: own for one, own in found.items() if all(row.took is not None for row in own)}
    names = entrants_of(engine, known)
    return [
        {
            "entrant_id": one,
            "entrant": names[one]["name"],
            "counted": sum(row.counted for row in known[one]),
            "curve": _curve(known[one]),
        }
        for one in sorted(known, key=lambda one: str(names[one]["name"]))
    ]


def _curve(found: list[Spent]) -> list[list[float]]:
    counted: Counter[int] = Counter()
    for row in found:
        counted[row.task_id] += row.counted
    rate, points = 0.0, list[list[float]]()
    for row in found:
        took = row.took or 0
        rate += row.resolved / counted[row.task_id] / len(counted)
        if points and points[-1][0] == took:
            points[-1][1] = rate
        elif row.resolved or row is found[-1]:
            points.append([took, rate])
    every = max(1, len(points) // _CURVE_POINTS)
    return [point for index, point in enumerate(points) if index % every == 0 or index == len(points) - 1]
