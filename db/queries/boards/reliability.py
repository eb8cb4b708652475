"""How much additional attempts, steps or money help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.boards.consumption import EffortUnit, Gain, read_gains
from stackrank.db.queries.boards.ranking import rank_entrants
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, fetch_entrants
from stackrank.db.totals.sums import Cells

_MAX_ATTEMPTS = 10
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


def reliability(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[ReliabilityRow]:
    """Return a row per entrant and k = 1, 2, ..., at most 10, on the tasks of the leaderboard.

    An entrant's rows end where too few of its tasks had k attempts: over a few hard tasks that were played more often,
    pass@2 would be below pass@1.
    """
    cells = _board_cells(engine, scope.find(engine).cells())
    board: list[ReliabilityRow] = []
    for entrant in sorted(fetch_entrants(engine, cells).values(), key=lambda entrant: str(entrant["name"])):
        tasks = [task for task in cells[entrant["id"]].values() if task.counted]
        resolved, counted = [task.resolved for task in tasks], [task.counted for task in tasks]
        for k in range(1, min(_MAX_ATTEMPTS, max(counted, default=0)) + 1):
            estimate = stats.reliability(resolved, counted, k)
            if estimate.tasks < stats.MIN_SHARED * len(tasks):
                break
            board.append(
                {
                    "entrant_id": entrant["id"],
                    "entrant": entrant["name"],
                    "k": k,
                    "tasks": estimate.tasks,
                    "pass_at_k": estimate.pass_at_k.rate,
                    "pass_low": estimate.pass_at_k.low,
                    "pass_high": estimate.pass_at_k.high,
                    "all_k": estimate.all_k.rate,
                    "all_low": estimate.all_k.low,
                    "all_high": estimate.all_k.high,
                }
            )
    return board


def _board_cells(engine: Engine, cells: Mapping[int, Cells]) -> dict[int, Cells]:
    """Return those of each entrant's sums that its row of the leaderboard is about."""
    entrant_rows = fetch_entrants(engine, cells)
    ranking = rank_entrants(
        {
            entrant_id: entrant_cells
            for entrant_id, entrant_cells in cells.items()
            if not entrant_rows[entrant_id]["reference"]
        }
    )
    return {entrant_id: ranking.board_cells(entrant_id, entrant_cells) for entrant_id, entrant_cells in cells.items()}


def budget_curves(engine: Engine, scope: Scope = DEFAULT_SCOPE, *, by: EffortUnit = "steps") -> list[BudgetCurve]:
    """Return the rate that each entrant had within each budget of steps, tokens or dollars, on the leaderboard's tasks.

    By cost, an entrant with an unknown price is left out.
    """
    selection = scope.find(engine)
    spent_rows: dict[int, list[Gain]] = {}
    cells = _board_cells(engine, selection.cells())
    for row in read_gains(selection, by):
        if selection.keys[row.task_id] in cells.get(row.entrant_id, {}):
            spent_rows.setdefault(row.entrant_id, []).append(row)
    priced_rows = {
        entrant_id: entrant_rows
        for entrant_id, entrant_rows in spent_rows.items()
        if all(row.amount is not None for row in entrant_rows)
    }
    names = fetch_entrants(engine, priced_rows)
    return [
        {
            "entrant_id": entrant_id,
            "entrant": names[entrant_id]["name"],
            "counted": sum(row.counted for row in priced_rows[entrant_id]),
            "curve": _curve(priced_rows[entrant_id]),
        }
        for entrant_id in sorted(priced_rows, key=lambda entrant_id: str(names[entrant_id]["name"]))
    ]


def _curve(spent_rows: list[Gain]) -> list[list[float]]:
    counted: Counter[int] = Counter()
    for row in spent_rows:
        counted[row.task_id] += row.counted
    rate, points = 0.0, list[list[float]]()
    for row in spent_rows:
        amount = row.amount or 0
        rate += row.outcome / counted[row.task_id] / len(counted)
        if points and points[-1][0] == amount:
            points[-1][1] = rate
        elif row.outcome or row is spent_rows[-1]:
            points.append([amount, rate])
    stride = max(1, len(points) // _CURVE_POINTS)
    return [point for index, point in enumerate(points) if index % stride == 0 or index == len(points) - 1]
