"""The published tables of a card, from the queries behind the boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from stackrank.db import queries
from stackrank.db.queries.boards.ranking import error_balance, rank_entrants
from stackrank.db.queries.boards.scope import Scope, Selection, fetch_entrants, without_reference
from stackrank.terms import ErrorClass

Rows = Sequence[Mapping[str, Any]]
_SCOPE = ("tasks", "common_tasks", "entrants")


def published_tables(selection: Selection) -> dict[str, Rows]:
    """Return the tables that boards show, by name, with numbers as the boards have them."""
    engine, scope = selection.engine, selection.scope
    cells = selection.cells()
    competing = without_reference(cells, fetch_entrants(engine, cells))
    ranking, balance = rank_entrants(competing), error_balance(competing)
    document = queries.board(engine, scope)
    return {
        "board": [
            {
                **row,
                **{str(kind): row["errors_by_class"].get(kind, 0) for kind in ErrorClass},
                "entrant": row["entrant_id"],
                "name": row["entrant"],
                "lead": ranking.leads.get(row["entrant_id"]),
                "errors_p": balance.get(row["entrant_id"]),
            }
            for row in (*document["entrants"], *document["reference"])
        ],
        "pairs": _pairs(engine, scope, list(ranking.ranks)),
        "reliability": [{**row, "entrant": row["entrant_id"]} for row in queries.reliability(engine, scope)],
        **_model(engine, scope),
        "scope": _scope(document["scope"]),
    }


def _pairs(engine: Engine, scope: Scope, ranked: Sequence[int]) -> Rows:
    return [
        {
            **pair,
            "first": pair["first"]["entrant_id"],
            "second": pair["second"]["entrant_id"],
            "only_first": len(pair["only_first"]),
            "only_second": len(pair["only_second"]),
        }
        for pair in queries.compare_all(engine, ranked, scope)
        if pair["tasks"]
    ]


def _model(engine: Engine, scope: Scope) -> dict[str, Rows]:
    model = queries.abilities(engine, scope)
    return {
        "abilities": [{**row, "entrant": row["entrant_id"]} for row in model["entrants"]],
        "difficulties": [{**row, "task": row["task_id"]} for row in model["tasks"]],
        "levels": [{**row, "entrant": row["entrant_id"]} for row in model["levels"]],
        "calibration": [{"fifth": place, **row} for place, row in enumerate(model["calibration"], start=1)],
    }


def _scope(scoped: Mapping[str, Any]) -> Rows:
    values = {
        "runs": len(scoped["runs"]),
        **{name: scoped[name] for name in _SCOPE},
        "errors": sum(scoped["errors"].values()),
        "invalid_tasks": len(scoped["invalid_tasks"]),
        "invalid_episodes": scoped["invalid_episodes"],
        "invalid_usd": f"{scoped['invalid_usd']:.6f}",
        "disputed_tasks": len(scoped["disputed_tasks"]),
    }
    return [{"quantity": name, "value": value} for name, value in values.items()]
