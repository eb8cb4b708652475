"""A unified diff as two texts beside each other, line by line."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from unidiff.patch import Hunk

from stackrank.diffs import read_diff


class Sides(NamedTuple):
    """One file: what it was called and is called, and its changed places; equal rows stand beside each other."""

    path: str
    before: str
    after: str


def sides(diff: str) -> list[Sides]:
    """The files of a diff. Lines carry their number and `-`, `+` or a space."""
    found = []
    for file in read_diff(diff):
        rows: list[tuple[str, str]] = []
        for hunk in file:
            rows += [("⋯", "⋯")] if rows else []
            rows += _rows(hunk)
        before, after = ("\n".join(row[side] for row in rows) for side in (0, 1))
        found.append(Sides(file.path, before, after))
    return found


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
