"""The grid of tasks and entrants: a sign for each result, which opens a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from stackrank import wording
from stackrank.dashboard import address
from stackrank.dashboard.browser.modules import component, feed, packed
from stackrank.dashboard.data import ask
from stackrank.db import queries
from stackrank.db.queries.boards.grid import GridCell, GridRow

MARKS = (
    ("✓", "resolved at every attempt"),
    ("◐", "at some attempts"),
    ("✗", "at none"),
    ("!", "only errors"),
)
"""A sign for each state of a cell, and what it means."""
_ALL, _SOME, _NONE, _ERRORS = range(len(MARKS))
_GRID = component("grid", "grid/grid.js", html="grid/grid.html", styles=["lib/base.css", "grid/grid.css"])


def state_of(side: GridCell) -> int:
    """Return which of `MARKS` a cell has."""
    if not side["resolved"] + side["unresolved"]:
        return _ERRORS
    return _ALL if not side["unresolved"] else _SOME if side["resolved"] else _NONE


def told(side: GridCell) -> str:
    """Summarize the result of one entrant on one task in a few characters."""
    return f"{MARKS[state_of(side)][0]} {wording.part_of(side['resolved'], side['resolved'] + side['unresolved'])}"


def entrants_of(rows: Sequence[GridRow]) -> list[str]:
    """Return the names of the entrants in these rows, those with the highest rates first."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        for side in row["cells"]:
            total = sums.setdefault(side["entrant"], [0, 0])
            total[0] += side["resolved"]
            total[1] += side["resolved"] + side["unresolved"]
    return sorted(sums, key=lambda name: (-sums[name][0] / max(1, sums[name][1]), name))


@st.fragment
def matrix(rows: Sequence[GridRow], *, key: str) -> None:
    """Draw the grid. Where the reader stays, the story of that cell's episode follows."""
    names = entrants_of(rows)
    found = _GRID(key=key, data=packed(_content(rows, names)), on_look_change=lambda: None)
    # The last event of a reader who has just left may be about another scope.
    known = {side["episode"] for row in rows for side in row["cells"]}
    with st.container(key="grid_feed", gap=None):
        if (episode := getattr(found, "look", None)) in known:
            feed("grid", f"story:{episode}", wording.visible(queries.story_text(ask(queries.episode, episode))))


def _content(rows: Sequence[GridRow], names: Sequence[str]) -> dict[str, Any]:
    """Return the grid for the browser. The addresses lack the id, or the query, at their end."""
    return {
        "marks": MARKS,
        "entrants": [wording.visible(name) for name in names],
        "facts": ["Rate", "Spread, points", "Notes"],
        "of_task": address.to("task", id=""),
        "of_episode": address.to("episode", id=""),
        "of_entrant": address.to("episodes", ep_query=""),
        "rows": [_row(row, names) for row in rows],
    }


def _row(row: GridRow, names: Sequence[str]) -> dict[str, Any]:
    cells = {side["entrant"]: side for side in row["cells"]}
    notes = [f"disputed by {', '.join(row['disputed_by'])}"] if row["disputed_by"] else []
    notes += ["suspected defect"] if row["suspect"] else []
    notes += ["resolved only with a debugger"] if row["decisive"] else []
    about = [row["title"] if row["title"] != row["task"] else "", row["category"], row["difficulty"]]
    return {
        "task": wording.visible(row["task"]),
        "id": row["task_id"],
        "about": wording.visible(" · ".join(filter(None, about))),
        "rate": wording.percent(row["rate"]),
        "spread": wording.distance(row["spread"]),
        "notes": wording.visible("; ".join(notes)),
        "cells": [_cell(cells[name]) if name in cells else None for name in names],
    }


def _cell(side: GridCell) -> dict[str, Any]:
    counted = side["resolved"] + side["unresolved"]
    result = f"resolved at {side['resolved']} of {wording.count_of(counted, 'attempt')}" if counted else ""
    errors = wording.count_of(side["errors"], "error") if side["errors"] else ""
    return {
        "state": state_of(side),
        "told": ", ".join(filter(None, (result, errors))),
        "share": side["resolved"] / counted if counted else 0.0,
        "count": wording.part_of(side["resolved"], counted) if counted else "",
        "episode": side["episode"],
    }
