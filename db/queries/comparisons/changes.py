"""Compares a run with the earlier runs of its series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from sqlalchemy import Engine

from stackrank.db import stats
from stackrank.db.queries.comparisons.claims import claim, corrected_p
from stackrank.db.queries.comparisons.series import EntrantHistory, load_histories
from stackrank.db.queries.runs import run as find_run
from stackrank.wording import count_of, percent, point_interval, points


class RateDifference(TypedDict):
    """An entrant's rate before and now over `tasks`. Rates are in 0..1.

    `p_value` is corrected by Holm over the entrants, of which there are `family`; `holm_low` and `holm_high` are the
    interval that belongs to it. `p_alone`, `ci_low` and `ci_high` are not corrected. `sure`: whether `p_value` is below
    0.05.
    """

    tasks: int
    rate_before: float
    rate: float
    difference: float
    ci_low: float
    ci_high: float
    holm_low: float
    holm_high: float
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
    corrected = correct_changes([change for _, change in pairs])
    return [
        (
            history,
            {
                "entrant_id": history.entrant["id"],
                "entrant": history.entrant["name"],
                "before": history.baseline[-1],
                "runs": change.runs,
                "baseline": change.baseline,
                **difference,
            },
        )
        for (history, change), difference in zip(pairs, corrected, strict=True)
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
    ends = point_interval(*_interval(row, alpha))
    gap = f"{points(row['difference'])} points ({ends})"
    tested = corrected_p(row["p_alone"], row["p_value"], row["family"], "entrant")
    return f"{statement}: {gap}, {tested}, n = {count_of(row['tasks'], 'task')}"


def correct_changes(changes: Sequence[stats.BaselineChange]) -> list[RateDifference]:
    """Return the changes of entrants as rows, each with its p-value and interval corrected over all of them."""
    corrected = stats.holm([change.p_value for change in changes])
    return [_rate_difference(change, p_value, len(changes)) for change, p_value in zip(changes, corrected, strict=True)]


def _rate_difference(change: stats.BaselineChange, p_value: float, family: int) -> RateDifference:
    row: RateDifference = {
        "tasks": change.tasks,
        "rate_before": change.rate_before,
        "rate": change.rate_now,
        "difference": change.difference,
        "ci_low": change.low,
        "ci_high": change.high,
        "holm_low": change.low,
        "holm_high": change.high,
        "p_alone": change.p_value,
        "p_value": p_value,
        "family": family,
        "sure": p_value < stats.ALPHA,
    }
    low, high = _interval(row, stats.ALPHA)
    return {**row, "holm_low": low, "holm_high": high}


def _interval(row: RateDifference, alpha: float) -> tuple[float, float]:
    """Return the interval that leaves 0 out if and only if the corrected p-value is below alpha."""
    p_alone, p_value, difference = row["p_alone"], row["p_value"], row["difference"]
    level = alpha * p_alone / p_value if 0 < p_value < 1 else alpha / row["family"]
    wider = stats.normal_quantile(level) / stats.normal_quantile(stats.ALPHA)
    low, high = (difference + wider * (end - difference) for end in (row["ci_low"], row["ci_high"]))
    if p_value >= alpha:
        low, high = min(low, 0.0), max(high, 0.0)
    elif low <= 0 <= high:
        # The exact test is surer than the interval, which is that of normal errors.
        reach = stats.tested_reach(difference, p_alone, level)
        low, high = (difference - reach, high) if difference > 0 else (low, difference + reach)
    return max(-1.0, low), min(1.0, high)
