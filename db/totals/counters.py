"""Sums over the episodes of runs. Triggers of the database update them whenever an episode is written.

So queries about a run's progress, its cost or everything that was ever played need not read the episodes. Each sum is
over the episodes of a run and an entrant that have equal values in `SAME`. In PostgreSQL several connections add to
rows of their own, the slots; when a run ends, its slots are merged into one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, select
from sqlalchemy.sql import ColumnElement

from stackrank.db.connection.transactions import COUNTER, EPISODE

BOUNDS = (1, 5, 15, 60, 300, 900, 1800, 3600)
"""In seconds: `within_N` counts the episodes that took at most N."""
SAME = ("run_id", "entrant_id", "counted", "status", "verdict", "error_class", "cause")
SUMS = (
    *("episodes", "sealed", "unverified", "priced", "cost_usd", "wall_s", "tokens_in", "tokens_out"),
    *(f"within_{bound}" for bound in BOUNDS),
)
_E = EPISODE.c
_LONGEST_CAUSE = 40


def sum_columns(*names: str) -> list[ColumnElement[Any]]:
    """Return sums of counter columns over a group, in the columns' types: PostgreSQL sums integers as decimals."""
    return [func.sum(COUNTER.c[name]).cast(COUNTER.c[name].type).label(name) for name in names]


def fold(connection: Connection, run_id: int) -> None:
    """Merge the slots of each sum of a run into one row, and drop sums without episodes."""
    deleted = delete(COUNTER).where(COUNTER.c.run_id == run_id).returning(*(COUNTER.c[name] for name in (*SAME, *SUMS)))
    rows = _add_up(connection.execute(deleted).all())
    if rows:
        # No connection adds to slot -1.
        values = [dict(zip((*SAME, *SUMS), (*key, *sums), strict=True), slot=-1) for key, sums in rows.items()]
        connection.execute(insert(COUNTER), values)


def differences(connection: Connection) -> dict[tuple[Any, ...], tuple[list[Any] | None, list[Any] | None]]:
    """Return the counters that differ from the sums of the episodes: key -> (counter, sum). Reads every episode."""
    stored = _add_up(connection.execute(select(*(COUNTER.c[name] for name in (*SAME, *SUMS)))).all())
    real = _add_up([*row[:6], _cause(row[6]), *row[7:]] for row in connection.execute(_scan()))
    return {
        key: (stored.get(key), real.get(key))
        for key in stored.keys() | real.keys()
        if key not in stored or key not in real or not _almost_equal(stored[key], real[key])
    }


def _cause(head: str) -> str:
    return head.partition(":")[0] if ":" in head else ""


def _almost_equal(sums: Iterable[Any], other_sums: Iterable[Any]) -> bool:
    return all(abs(a - b) <= 1e-6 * max(1.0, abs(a)) for a, b in zip(sums, other_sums, strict=True))


def _add_up(rows: Iterable[Any]) -> dict[tuple[Any, ...], list[Any]]:
    """Add up rows that have the same key: key -> sums, without keys that have no episodes."""
    totals: dict[tuple[Any, ...], list[Any]] = defaultdict(lambda: [0] * len(SUMS))
    for row in rows:
        key, sums = tuple(row[: len(SAME)]), row[len(SAME) :]
        totals[key] = [a + b for a, b in zip(totals[key], sums, strict=True)]
    return {key: sums for key, sums in totals.items() if sums[0]}


def _scan() -> Select[Any]:
    """Return the query that computes the counters from the episodes."""
    key = [*(_E[name] for name in SAME[:-1]), func.substr(_E.error, 1, _LONGEST_CAUSE)]

    def count(condition: ColumnElement[bool]) -> ColumnElement[int]:
        return func.sum(case((condition, 1), else_=0))

    sums = {
        "episodes": func.count(),
        "sealed": count(_E.sealed > 0),
        "unverified": count(_E.unverified),
        "priced": func.count(_E.cost_usd),
        "cost_usd": func.coalesce(func.sum(_E.cost_usd), 0.0),
        **{f"within_{bound}": count(_E.wall_s <= bound) for bound in BOUNDS},
    }
    columns = [sums[name] if name in sums else func.sum(_E[name]) for name in SUMS]
    return select(*key, *columns).group_by(*key)
