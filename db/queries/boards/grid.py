"""A table of tasks and entrants: who resolves what, and where entrants disagree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypedDict

from sqlalchemy import Engine, case, func, select

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.scope import DEFAULT_SCOPE, Scope, Selection, fetch_entrants
from stackrank.db.queries.boards.task_board import TaskRate, task_rates
from stackrank.db.queries.boards.tool_sets import debugger_pairs
from stackrank.db.queries.comparisons.compare import Comparison
from stackrank.db.queries.reading import fetch_tuples
from stackrank.terms import DEBUGGERS, Verdict

_E = EPISODE.c


class GridCell(TypedDict):
    """The results of one entrant on one task; `episode` is the one to show."""

    entrant_id: int
    entrant: str
    resolved: int
    unresolved: int
    errors: int
    episode: int


class GridRow(TaskRate):
    """A task with the results of each entrant; see `queries.grid`."""

    spread: float
    decisive: bool
    cells: list[GridCell]


def grid(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> list[GridRow]:
    """Return the rows of `task_rates` with a cell for each entrant that played; tasks with the largest spread first.

    `spread` is the highest rate of an entrant minus the lowest, as a fraction. A cell's `episode` is the newest
    resolved one, or else the newest. `decisive`: an entrant resolved the task with a debugger, but not without it, all
    else equal, and no competing entrant without a debugger resolved it.
    """
    selection = scope.find(engine)
    cells = selection.cells()
    entrant_rows = fetch_entrants(engine, cells)
    newest_episodes = _newest_episodes(engine, selection)
    decisive = decisive_tasks(engine, scope)
    grid_rows: list[GridRow] = []
    for row in task_rates(engine, scope):
        row_cells: list[GridCell] = []
        for entrant_id in sorted(cells, key=lambda entrant_id: entrant_rows[entrant_id]["name"]):
            key = selection.keys[row["task_id"]]
            if (sums := cells[entrant_id].get(key)) and sums.done:
                row_cells.append(
                    {
                        "entrant_id": entrant_id,
                        "entrant": entrant_rows[entrant_id]["name"],
                        "resolved": sums.resolved,
                        "unresolved": sums.unresolved,
                        "errors": sums.errors,
                        "episode": newest_episodes[entrant_id, row["task_id"]],
                    }
                )
        rates = [cell["resolved"] / played for cell in row_cells if (played := cell["resolved"] + cell["unresolved"])]
        spread = max(rates) - min(rates) if rates else 0.0
        grid_rows.append({**row, "spread": spread, "decisive": row["task"] in decisive, "cells": row_cells})
    return sorted(grid_rows, key=lambda row: (-row["spread"], row["task"]))


def decisive_tasks(engine: Engine, scope: Scope = DEFAULT_SCOPE) -> dict[str, list[int]]:
    """Return the tasks that were resolved only with a debugger: name -> the entrants that did so.

    Each of them also played the task without a debugger, all else equal, and did not resolve it. A few such tasks are
    to be expected by chance where attempts are few.
    """
    return find_decisive(scope.find(engine), debugger_pairs(engine, scope))


def find_decisive(selection: Selection, pairs: Sequence[Comparison]) -> dict[str, list[int]]:
    """Return the decisive tasks of a selection, given its `debugger_pairs`."""
    cells = selection.cells()
    entrant_rows = fetch_entrants(selection.engine, cells)
    without_debugger = [
        cells[entrant_id]
        for entrant_id, row in entrant_rows.items()
        if not row["reference"] and set(DEBUGGERS).isdisjoint(row["tool_list"])
    ]
    resolved_without = {key[0] for side in without_debugger for key, sums in side.items() if sums.resolved}
    tasks: dict[str, list[int]] = defaultdict(list)
    for pair in pairs:
        for row in pair["by_task"]:
            only_with = row["second_resolved"] and not row["first_resolved"]
            if only_with and row["task"] not in resolved_without:
                tasks[row["task"]].append(pair["second"]["entrant_id"])
    return dict(tasks)


def _newest_episodes(engine: Engine, selection: Selection) -> dict[tuple[int, int], int]:
    query = (
        select(
            _E.entrant_id,
            _E.task_id,
            func.max(case((_E.verdict == Verdict.RESOLVED, _E.id))),
            func.max(_E.id),
        )
        .where(selection.grouped, _E.counted, _E.verdict != "")
        .group_by(_E.entrant_id, _E.task_id)
    )
    episode_ids: dict[tuple[int, int], int] = defaultdict(int)
    episode_ids |= {
        (entrant, task): resolved or newest for entrant, task, resolved, newest in fetch_tuples(engine, query)
    }
    return episode_ids
