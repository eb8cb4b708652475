"""The kinds of numbers in tables. Each is written by `wording`, so a table, a sentence and a figure agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
    """Means of counts, and seconds."""
    return _numbers(wording.mean, label, looks)


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


def rate_bar(**looks: Any) -> Any:
    """Percents from 0 to 100 with a bar, which the browser writes; `show.in_percent` makes them from shares."""
    return st.column_config.ProgressColumn(format="%.1f%%", min_value=0, max_value=100, **looks)


def moment(**looks: Any) -> Any:
    """Times."""
    return st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm", **looks)


def text_right(**looks: Any) -> Any:
    """Texts that stand for numbers, such as intervals."""
    return st.column_config.TextColumn(alignment="right", **looks)


def interval_alone() -> Any:
    """Intervals beside p-values that are corrected."""
    return text_right(help="Of this comparison alone. Whether a difference is clear is said by the corrected p.")


def _numbers(write: Callable[[Any], str], label: str | None, looks: dict[str, Any]) -> Kind:
    return Kind(write, st.column_config.NumberColumn(label, **looks))
