"""What two entrants take: steps, tokens and dollars, of an episode and of a resolved task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from stackrank import wording
from stackrank.dashboard.parts import columns, show
from stackrank.db.queries.comparisons.effort import EffortComparison

UNITS = {"steps": "Steps", "tokens": "Tokens", "cost_usd": "Cost"}
"""What is counted, and the word for it."""
Efforts = Mapping[str, EffortComparison]
"""Unit -> what the two take of it."""


def draw(names: Sequence[str], spending: Efforts, efforts: Efforts, *, also: str = "") -> None:
    """Draw what an episode of either of two takes, and beside it what a resolved task takes, where that is limited.

    `names`: of the first and the second. `also` is said of a resolved task.
    """
    left, right = st.columns(2)
    with left:
        _spent(names, spending)
    with right:
        _needed(names, efforts, also)


def _spent(names: Sequence[str], efforts: Efforts) -> None:
    if rows := _rows(names, efforts):
        _table("What an episode takes", rows, "Means of an episode, resolved or not; every task has the same weight.")


def _needed(names: Sequence[str], efforts: Efforts, also: str) -> None:
    # Without a limit, an unresolved episode has no size that is more than a guess.
    limited = {unit: effort for unit, effort in efforts.items() if effort["is_limited"]}
    rows = _rows(names, limited)
    if not rows:
        return
    budgets = {UNITS[unit]: wording.allowance(effort["budget"], unit) for unit, effort in limited.items()}
    for row in rows:
        row["If unresolved"] = budgets[row["What"]]
    told = f"Means of a task, where an unresolved episode counts as all that it was allowed. {also}"
    _table("What a resolved task takes", rows, told.strip())


def _rows(names: Sequence[str], efforts: Efforts) -> list[dict[str, str]]:
    """Return a row for each unit that is known, and used at all."""
    first, second = names
    return [
        {
            "What": noun,
            first: _amount(effort["first"], unit),
            second: _amount(effort["second"], unit),
            "Difference": wording.amount(-(effort["saved"] or 0.0), unit, signed=True),
            "95% interval": _interval_of_more(effort, unit),
        }
        for unit, noun in UNITS.items()
        if (effort := efforts.get(unit)) and (effort["first"] or effort["second"])
    ]


def _interval_of_more(effort: EffortComparison, unit: str) -> str:
    """Return the interval of how much more the second needs."""
    low, high = effort["holm_low"], effort["holm_high"]
    return wording.NOTHING if low is None or high is None else wording.amount_interval(-high, -low, unit)


def _table(title: str, rows: Sequence[Mapping[str, str]], told: str) -> None:
    st.markdown(f"**{title}**")
    right = {name: columns.text_right() for name in rows[0] if name not in ("What", "95% interval")}
    show.grid(rows, column_config={**right, "95% interval": columns.corrected_interval()}, alt=title)
    st.caption(show.escaped(told))


def _amount(value: float | None, unit: str) -> str:
    return wording.NOTHING if value is None else wording.amount(value, unit)
