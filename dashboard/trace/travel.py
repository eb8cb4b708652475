"""Time travel: the values of a local variable over the steps, and the steps that stopped at a line or edited it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import data
from stackrank.dashboard.trace.files import plain_path
from stackrank.db import queries
from stackrank.db.queries.episodes.pauses import Pause

_MOST_SPANS = 2_000


@st.cache_data(ttl=600, max_entries=8, show_spinner=False)
def pauses(url: str, episode_id: int, last: int) -> list[Pause]:
    """Return where the program was paused up to step `last`; cached, since it reads the states of all steps."""
    return [row for row in queries.pauses(data.engine(), episode_id) if row["index"] <= last]


def spans(pauses: Iterable[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return a local's values in order: the first and last step of each span with the same value and function."""
    spans_found: list[dict[str, Any]] = []
    for row in pauses:
        if name not in row["locals"]:
            continue
        value = {"function": row["function"], "value": row["locals"][name]}
        if spans_found and {key: spans_found[-1][key] for key in value} == value:
            spans_found[-1]["last"] = row["index"]
        else:
            spans_found.append({"first": row["index"], "last": row["index"], **value})
    return spans_found


def values(pauses: Iterable[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """Return the values of a local for the browser; if there are very many, only the first ones."""
    value_spans = spans(pauses, name)
    points = [
        {**span, "function": wording.visible(span["function"]), "value": wording.visible(span["value"][:2_000])}
        for span in value_spans[:_MOST_SPANS]
    ]
    return {"name": wording.visible(name), "spans": points, "total": len(value_spans)}


def lines(pauses: Sequence[Pause]) -> dict[str, Any]:
    """Return `stops`, file -> [line, step] of pauses, and `edits`, file -> [first line, last line, step] of edits."""
    stops: dict[str, list[list[int]]] = {}
    edits: dict[str, list[list[int]]] = {}
    for row in pauses:
        if row["line"] is not None and row["file"]:
            stops.setdefault(wording.visible(plain_path(row["file"])), []).append([row["line"], row["index"]])
        if row["lines"] and row["edited"]:
            span = [row["lines"][0], row["lines"][-1], row["index"]]
            edits.setdefault(wording.visible(plain_path(row["edited"])), []).append(span)
    return {"stops": stops, "edits": edits}


class Changes:
    """Tracks how local variables change between two pauses in the same function."""

    def __init__(self, pauses: Iterable[Mapping[str, Any]]) -> None:
        """`pauses`: the pauses so far."""
        self._last: dict[str, dict[str, str]] = {}
        for row in pauses:
            self._follow(row["function"], row["locals"])

    def _follow(self, function: str, values: Mapping[str, str]) -> None:
        if values:
            self._last[function] = dict(values)

    def of(self, function: str, values: Mapping[str, str]) -> dict[str, str | None]:
        """Return local -> former value, None for a new local. Unchanged locals are left out; a first pause has none."""
        earlier = self._last.get(function)
        changed = (
            {} if earlier is None else {n: earlier.get(n) for n, value in values.items() if earlier.get(n) != value}
        )
        self._follow(function, values)
        return changed
