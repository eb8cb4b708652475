"""A unified diff as two texts side by side, line by line."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from unidiff.patch import Hunk

from stackrank.diffs import read_diff


class Sides(NamedTuple):
    """One file: its path, and its changed places before and after the change; equal rows are side by side."""

    path: str
    before: str
    after: str


def sides(diff: str) -> list[Sides]:
    """Return the files of a diff. Each line starts with `-`, `+` or a space, and its number."""
    rows_found = []
    for file in read_diff(diff):
        rows: list[tuple[str, str]] = []
        for hunk in file:
            rows += [("⋯", "⋯")] if rows else []
            rows += _rows(hunk)
        left_text, right = ("\n".join(row[side] for row in rows) for side in (0, 1))
        rows_found.append(Sides(file.path, left_text, right))
    return rows_found


def _rows(hunk: Hunk) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    for line in hunk:
        text = line.value.rstrip("\r\n")
        if line.is_removed:
            old.append(f"-{line.source_line_no:>5} {text}")
        elif line.is_added:
            new.append(f"+{line.target_line_no:>5} {text}")
        elif line.is_context:
            rows += zip_longest(old, new, fillvalue="")
            old, new = [], []
            rows.append((f" {line.source_line_no:>5} {text}", f" {line.target_line_no:>5} {text}"))
    return [*rows, *zip_longest(old, new, fillvalue="")]
