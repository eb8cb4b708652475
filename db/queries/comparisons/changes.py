"""Compares a run with the earlier runs of its series."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine

from stackrank.db import rows, stats
from stackrank.db.queries.comparisons.series import Past, past
from stackrank.db.queries.runs import run as find_run


def changes(engine: Engine, run: int | str) -> list[rows.Change]:
    """Return what each entrant does better or worse in a run than in the earlier runs of its series.

    Empty for a run without a series, and for the first run of a series. See `stats.change`.
    """
    return [row for _, row in changed(past(engine, find_run(engine, run)))]


def changed(entrants: Sequence[Past]) -> list[tuple[Past, rows.Change]]:
    """Return the entrants that can be compared with their past, each with its change; Holm corrects the p-values."""
    found = [(one, change) for one in entrants if (change := one.change()) is not None]
    corrected = stats.holm([change.p_value for _, change in found])
    return [
        (
            one,
            {
                "entrant_id": one.entrant["id"],
                "entrant": one.entrant["name"],
                "before": one.baseline[-1],
                "runs": change.runs,
                "baseline": change.baseline,
                **difference(change, p_value),
            },
        )
        for (one, change), p_value in zip(found, corrected, strict=True)
    ]


def difference(change: stats.Change, p_value: float) -> rows.Difference:
    """Return the change as a row, with its corrected p-value."""
    return {
        "tasks": change.tasks,
        "rate_before": change.before,
        "rate": change.now,
        "difference": change.difference,
        "ci_low": change.low,
        "ci_high": change.high,
        "p_value": p_value,
        "sure": p_value < stats.ALPHA,
    }
