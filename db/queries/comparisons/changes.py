"""Compares a run with the earlier runs of its series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.comparisons.claims import claim, corrected_p, interval_alone
from stackrank.db.queries.comparisons.series import EntrantHistory, load_histories
from stackrank.db.queries.runs import run as find_run
from stackrank.wording import count_of, percent, point_interval, points


class RateDifference(TypedDict):
    """An entrant's rate before and now over `tasks`. Rates are in 0..1, the interval is for this entrant alone.

    `p_value` is corrected by Holm over the entrants, of which there are `family`; `p_alone` is not. `sure`: whether
    `p_value` is below 0.05.
    """

    tasks: int
    rate_before: float
    rate: float
    difference: float
    ci_low: float
    ci_high: float
    p_alone: float
    p_value: float
    family: int
    sure: bool


class RateChange(RateDifference):
    """How an entrant has changed within a series: its last `runs` runs against the `baseline` runs before them.

    `before` is the newest run of the baseline.
    """

    entrant_id: int
    entrant: str
    before: int
    runs: int
    baseline: int


def changes(engine: Engine, run: int | str) -> list[RateChange]:
    """Return what each entrant does better or worse in a run than in the earlier runs of its series.

    Empty for a run without a series, and for the first run of a series. See `stats.compare_with_baseline`.
    """
    return [row for _, row in entrant_changes(load_histories(engine, find_run(engine, run)))]


def entrant_changes(entrants: Sequence[EntrantHistory]) -> list[tuple[EntrantHistory, RateChange]]:
    """Return the entrants that can be compared with their past, each with its change; Holm corrects the p-values."""
    pairs = [(history, change) for history in entrants if (change := history.change()) is not None]
    corrected = stats.holm([change.p_value for _, change in pairs])
    return [
        (
            history,
            {
                "entrant_id": history.entrant["id"],
                "entrant": history.entrant["name"],
                "before": history.baseline[-1],
                "runs": change.runs,
                "baseline": change.baseline,
                **rate_difference(change, p_value, len(pairs)),
            },
        )
        for (history, change), p_value in zip(pairs, corrected, strict=True)
    ]


def change_sentence(row: RateDifference, entrant: str, *, alpha: float = stats.ALPHA) -> str:
    """State whether an entrant has become better or worse, with its rates, the interval and the corrected p-value."""
    rates = f"({percent(row['rate_before'])} -> {percent(row['rate'])})"
    statement = claim(
        row["difference"],
        row["p_value"],
        above=f"{entrant} is better than before {rates}",
        below=f"{entrant} is worse than before {rates}",
        between=f"for {entrant} {rates}",
        alpha=alpha,
    )
    ends = interval_alone(point_interval(row["ci_low"], row["ci_high"]), row["p_alone"], row["p_value"])
    gap = f"{points(row['difference'])} points ({ends})"
    tested = corrected_p(row["p_alone"], row["p_value"], row["family"], "entrant")
    return f"{statement}: {gap}, {tested}, n = {count_of(row['tasks'], 'task')}"


def rate_difference(change: stats.BaselineChange, p_value: float, family: int) -> RateDifference:
    """Return the change as a row, with its p-value, which is corrected over the `family` of entrants."""
    return {
        "tasks": change.tasks,
        "rate_before": change.rate_before,
        "rate": change.rate_now,
        "difference": change.difference,
        "ci_low": change.low,
        "ci_high": change.high,
        "p_alone": change.p_value,
        "p_value": p_value,
        "family": family,
        "sure": p_value < stats.ALPHA,
    }
