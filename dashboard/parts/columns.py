"""The kinds of numbers in tables. Each is written by `wording`, so a table, a sentence and a figure agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from stackrank import wording


@dataclass(frozen=True)
class Kind:
    """A column of numbers: how each is written, and how the column looks. It sorts by the numbers themselves."""

    write: Callable[[Any], str]
    looks: Any

    def __call__(self, value: Any) -> str:
        """Return a value as the table shows it."""
        return wording.NOTHING if pd.isna(value) else self.write(value)


def count(label: str | None = None, **looks: Any) -> Kind:
    """Counts of things."""
    return _numbers(wording.whole, label, looks)


def mean(label: str | None = None, **looks: Any) -> Kind:
    """Means of counts."""
    return _numbers(wording.mean, label, looks)


def duration(label: str | None = None, **looks: Any) -> Kind:
    """Seconds, as people write durations."""
    return _numbers(wording.duration, label, looks)


def saved(label: str | None = None, **looks: Any) -> Kind:
    """Differences of means, with their signs."""
    return _numbers(wording.signed_mean, label, looks)


def share(label: str | None = None, **looks: Any) -> Kind:
    """Shares from 0 to 1, as percents."""
    return _numbers(wording.percent, label, looks)


def points(label: str | None = None, **looks: Any) -> Kind:
    """Differences of shares, as points with their signs."""
    return _numbers(wording.points, label, looks)


def spread(label: str | None = None, **looks: Any) -> Kind:
    """Distances between shares, as points without a sign."""
    return _numbers(wording.distance, label, looks)


def dollars(label: str | None = None, **looks: Any) -> Kind:
    """Costs."""
    return _numbers(wording.usd, label, looks)


def total_dollars(label: str | None = None, **looks: Any) -> Kind:
    """What many episodes cost together."""
    return _numbers(wording.total_usd, label, looks)


def p_value(label: str | None = None, **looks: Any) -> Kind:
    """p-values."""
    return _numbers(wording.p_value, label, looks)


def logits(label: str | None = None, **looks: Any) -> Kind:
    """Abilities and difficulties on the scale of a model."""
    return _numbers(wording.logits, label, looks)


def fit(label: str | None = None, **looks: Any) -> Kind:
    """How well a model fits, near 1 if it does."""
    return _numbers(partial(wording.fixed, digits=2), label, looks)


def rate_bar(**looks: Any) -> Any:
    """Percents from 0 to 100 with a bar, which the browser writes; `show.in_percent` makes them from shares."""
    return st.column_config.ProgressColumn(format="%.1f%%", min_value=0, max_value=100, **{"width": 170, **looks})


def moment(**looks: Any) -> Any:
    """Times."""
    return st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", **looks)


def text_right(label: str | None = None, **looks: Any) -> Any:
    """Texts that stand for numbers, such as intervals."""
    return st.column_config.TextColumn(label, alignment="right", **looks)


def corrected_interval() -> Any:
    """Intervals beside p-values that are corrected."""
    return text_right(help="Corrected as p is (Holm): it leaves out 0 if and only if the difference is clear.")


_PIXELS = {
    **dict.fromkeys(" !'.:Ifijl|", 3.2),
    **dict.fromkeys("(),-;[]rt}", 4.4),
    **dict.fromkeys('"*/\\s{', 5.5),
    **dict.fromkeys("#0123456789=?FJLS^cekvxyz~", 6.6),
    **dict.fromkeys("CDGHNPRTUZo", 8.0),
    **dict.fromkeys("&MOQWw", 9.5),
    **dict.fromkeys("%m@", 11.5),
}
"""Pixels that characters take in a table; the others take `_USUAL`."""
_USUAL, _PADDING, _WIDEST = 7.2, 19, 560
"""Beside `_PIXELS`: the pixels of other characters, those of the sides of a cell, and the most of a column."""
_LONGEST = 8
"""So many of the longest texts of a column are measured."""


def width_of(heading: str, texts: Iterable[str]) -> int:
    """Return the pixels that a column needs, so that no text is cut and numbers are below their heading."""
    longest = sorted(set(texts), key=len)[-_LONGEST:]
    pixels = max(sum(_PIXELS.get(character, _USUAL) for character in text) for text in (heading, *longest))
    return min(_WIDEST, round(pixels) + _PADDING)


def _numbers(write: Callable[[Any], str], label: str | None, looks: dict[str, Any]) -> Kind:
    return Kind(write, st.column_config.NumberColumn(label, **looks))


_SHARES = {
    "rate",
    "rate_errors_fail",
    "rate_errors_pass",
    "all_attempts_rate",
    "pass_at_k",
    "all_k",
    "observed",
    "predicted",
    "fixed_rate",
}
_LOGITS = {"ability", "difficulty"}
_FITS = {"infit", "outfit"}
_NAMED = {
    "ci": "95% interval",
    "rate": "Rate",
    "all_attempts_rate": "Every attempt",
    "rate_errors_fail": "Rate if errors failed",
    "rate_errors_pass": "Rate if errors passed",
    "pass_at_k": "pass@k",
    "pass": "95% of pass@k",
    "k": "k",
    "all_k": "All k",
    "all": "95% of all k",
    "cost_usd": "Spent",
    "cost_per_resolved": "Cost per resolved",
    "rank": "Rank",
    "counted": "Episodes",
    "wall_mean_s": "Mean duration",
    "steps_mean": "Mean steps",
    "tasks_total": "Tasks in question",
    "debugger": "Has a debugger",
}


def is_share(name: str) -> bool:
    """Whether a column of an answer has shares from 0 to 1."""
    return name in _SHARES or name.rpartition("_")[0] in ("ci", "pass", "all", "observed", "fixed")


def with_intervals(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of an answer with one text for the two ends of each interval of which the form is known."""
    texts: dict[str, Any] = {}
    for name, value in row.items():
        stem, _, end = name.rpartition("_")
        write = _interval_of(stem) if end in ("low", "high") else None
        if write is None:
            texts[name] = value
        elif end == "low":
            label = None if stem in row else _NAMED.get(stem)
            text = None if value is None else write(value, row[f"{stem}_high"])
            texts[label or f"95% of {wording.words(stem)}"] = text
    return texts


def _interval_of(stem: str) -> Callable[[Any, Any], str] | None:
    """Return what formats the interval around a number of an answer; None: each of its ends is a column."""
    if is_share(f"{stem}_low"):
        return wording.interval
    if stem.startswith("cost"):
        return wording.usd_interval
    if stem.startswith("gap"):
        return wording.point_interval
    if stem == "rank":
        return wording.ranks
    return wording.logits_interval if stem in _LOGITS else None


def named(name: str, values: pd.Series) -> Any:
    """Return how a column of an answer is shown; None hides a column of ids."""
    if name.endswith("_id"):
        return None
    stem, _, end = name.rpartition("_")
    label = name if name in _NAMED.values() else _NAMED.get(name) or wording.words(name).capitalize()
    if end in ("low", "high"):
        label = f"{_NAMED.get(stem) or wording.words(stem).capitalize()}, {'from' if end == 'low' else 'to'}"
    if is_share(name):
        return share(label)
    if name in _LOGITS and pd.api.types.is_float_dtype(values):
        return logits(label)
    if name in _FITS:
        return fit(label)
    if name.partition("_")[0] == "gap":
        return points(label)
    if name.startswith("cost"):
        return dollars(label)
    if name.endswith("_s"):
        return duration(label)
    if pd.api.types.is_integer_dtype(values):
        return count(label)
    if pd.api.types.is_float_dtype(values):
        return mean(label)
    return st.column_config.Column(label)
