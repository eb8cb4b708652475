"""What episodes took, in steps, tokens or dollars."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal, NamedTuple

from sqlalchemy import case, func, select

from stackrank.db.connection.transactions import EPISODE
from stackrank.db.queries.boards.scope import Selection
from stackrank.db.queries.reading import fetch_tuples
from stackrank.terms import Verdict

EffortUnit = Literal["steps", "tokens", "cost_usd"]
_E = EPISODE.c
_COLUMNS: dict[str, Any] = {"steps": _E.steps, "tokens": _E.tokens_in + _E.tokens_out, "cost_usd": _E.cost_usd}


class Consumption(NamedTuple):
    """How many of an entrant's counted episodes on a task took the same amount, and how many of those were resolved."""

    entrant_id: int
    task_id: int
    amount: float | None
    """None: a price is unknown."""
    resolved: int
    counted: int


def read_consumption(
    selection: Selection, by: EffortUnit, entrants: Collection[int] | None = None
) -> list[Consumption]:
    """Return what the counted episodes took, of these entrants or of all, smallest amount first."""
    groups = (_E.entrant_id, _E.task_id, _COLUMNS[by])
    resolved = func.sum(case((_E.verdict == Verdict.RESOLVED, 1), else_=0))
    query = select(*groups, resolved, func.count()).where(
        selection.condition, _E.counted, _E.verdict.in_(selection.counting)
    )
    if entrants is not None:
        query = query.where(_E.entrant_id.in_(list(entrants)))
    rows = fetch_tuples(selection.engine, query.group_by(*groups).order_by(_COLUMNS[by]))
    return [Consumption(*row) for row in rows if row[1] in selection.keys]
