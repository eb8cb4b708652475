"""The tree of an episode that branches: the line that each step is on, and how the lines hang together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

MOST_COLUMNS = 12
"""The lines after this many share the last column."""


class Place(TypedDict):
    """Where a step is in the tree, for the browser. Columns count from 0."""

    column: int
    passing: list[int]
    """The columns of other lines that go on further down."""
    origin: int | None
    """The column of the line that the step branches from; None: it continues its own line."""
    kept: bool
    """Whether the step led to where the episode stands in the end."""


def places(rows: Sequence[Mapping[str, Any]]) -> list[Place | None]:
    """Return the place of each step; None for all if nothing branches. `rows`: with `index` and `parent`, in order."""
    columns: dict[int, int] = {}
    spans: list[list[int]] = []
    origins: dict[int, int] = {}
    for row in rows:
        index, parent = row["index"], row["parent"]
        before = columns.get(parent, 0)
        if parent is None or parent == index - 1:
            column = before
        else:
            column = min(len(spans), MOST_COLUMNS - 1)
            origins[index] = before
            spans[before][1] = index
        if column == len(spans):
            spans.append([index, index])
        spans[column][1] = index
        columns[index] = column
    if not origins:
        return [None] * len(rows)
    kept = _line(rows)
    return [
        {
            "column": columns[row["index"]],
            "passing": [
                column
                for column, (first, last) in enumerate(spans)
                if first < row["index"] < last and column != columns[row["index"]]
            ],
            "origin": origins.get(row["index"]),
            "kept": row["index"] in kept,
        }
        for row in rows
    ]


def _line(rows: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the steps that lead to the last one."""
    parents = {row["index"]: row["parent"] for row in rows}
    line: set[int] = set()
    index = rows[-1]["index"]
    while index in parents:
        line.add(index)
        index = parents[index]
    return line
