"""What episodes took, in steps, tokens or dollars."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, NamedTuple

from sqlalchemy import case, func, literal, select

from stackrank.db.connection.transactions import EPISODE, FAULT_VERDICT
from stackrank.db.queries.boards.scope import Selection
from stackrank.db.queries.reading import fetch_tuples
from stackrank.terms import Verdict

EffortUnit = Literal["steps", "tokens", "cost_usd"]
_E, _F = EPISODE.c, FAULT_VERDICT.c
_COLUMNS: dict[str, Any] = {"steps": _E.steps, "tokens": _E.tokens_in + _E.tokens_out, "cost_usd": _E.cost_usd}


class Consumption(NamedTuple):
    """What an entrant's counted episodes on a task took."""

    entrant_id: int
    task_id: int
    resolving: float
    """What those took together that resolved it, each at most what is allowed."""
    total: float
    """What all took together, resolved or not."""
    resolved: int
    counted: int
    longest: float
    """The most that one of them took."""
    unpriced: int
    """How many have an unknown price."""


class Gain(NamedTuple):
    """By how much an amount raised the outcomes of an entrant's counted episodes on a task, and how many took it."""

    entrant_id: int
    task_id: int
    amount: float | None
    """None: a price is unknown."""
    outcome: float
    counted: int
    """The episodes that ended with this amount."""


def read_consumption(
    selection: Selection, by: EffortUnit, entrants: Collection[int], allowed: float = 0.0
) -> list[Consumption]:
    """Return what the counted episodes of these entrants took. `allowed`: the most that counts of one; 0: all."""
    amount, is_resolved = _COLUMNS[by], _E.verdict == Verdict.RESOLVED
    capped = case((amount > allowed, allowed), else_=amount) if allowed else amount
    query = (
        select(
            _E.entrant_id,
            _E.task_id,
            func.coalesce(func.sum(case((is_resolved, capped), else_=0)), 0),
            func.coalesce(func.sum(amount), 0),
            func.sum(case((is_resolved, 1), else_=0)),
            func.count(),
            func.coalesce(func.max(amount), 0),
            func.count() - func.count(amount),
        )
        .where(selection.condition, _E.counted, _E.verdict.in_(selection.counting))
        .where(_E.entrant_id.in_(sorted(entrants)))
        .group_by(_E.entrant_id, _E.task_id)
    )
    return [Consumption(*row) for row in fetch_tuples(selection.engine, query) if row[1] in selection.keys]


def read_gains(selection: Selection, by: EffortUnit) -> list[Gain]:
    """Return by which amounts the outcomes of counted episodes rose, smallest amount first.

    An episode of a task with one fault counts in the end, as in `read_consumption`. Of a task with several, each fault
    counts when it was mended, and the episode itself gains nothing more in the end.
    """
    groups = (_E.entrant_id, _E.task_id, _COLUMNS[by])
    ended = func.sum(case(((_E.verdict == Verdict.RESOLVED) & (_E.faults_total == 1), 1), else_=0))
    is_counted = (selection.condition, _E.counted, _E.verdict.in_(selection.counting))
    by_end = select(*groups, ended, func.count()).where(*is_counted).group_by(*groups)
    amount = {"steps": _F.step, "tokens": _F.tokens, "cost_usd": _F.cost_usd}[by]
    by_fault = (
        select(_E.entrant_id, _E.task_id, amount, 1.0 / _E.faults_total, literal(0))
        .join(FAULT_VERDICT, _F.episode_id == _E.id)
        .where(*is_counted, _F.mended)
    )
    rows = [Gain(*row) for row in fetch_tuples(selection.engine, by_end)]
    rows += [Gain(*row) for row in fetch_tuples(selection.engine, by_fault)]
    in_scope = [row for row in rows if row.task_id in selection.keys]
    return sorted(in_scope, key=lambda row: (row.amount is not None, row.amount or 0))
