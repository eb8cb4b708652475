"""A unified diff as two texts side by side, line by line."""

from __future__ import annotations

from itertools import zip_longest
from typing import NamedTuple

from stackrank.patches.contents import REGULAR
from stackrank.patches.reading import FilePatch, Hunk, Patch
from stackrank.patches.writing import readable_file
from stackrank.wording import count_of


class Sides(NamedTuple):
    """One file: its path, and its changed places before and after the change; equal rows are side by side."""

    path: str
    before: str
    after: str


def sides(diff: str) -> list[Sides]:
    """Return the files of a diff. Each line starts with `-`, `+` or a space, and its number."""
    rows_found = []
    for file in Patch.read(diff).files:
        rows: list[tuple[str, str]] = []
        for hunk in readable_file(file).hunks:
            rows += [("⋯", "⋯")] if rows else []
            rows += _rows(hunk)
        if not rows or not {file.old_mode, file.new_mode} <= {"", REGULAR}:  # the lines would not tell a link
            rows.insert(0, _kinds(file))
        left_text, right = ("\n".join(row[side] for row in rows) for side in (0, 1))
        rows_found.append(Sides(file.path, left_text, right))
    return rows_found


def _kinds(file: FilePatch) -> tuple[str, str]:
    """Say what a file is on both sides, beside the lines that are shown."""
    old, new = file.contents or (None, None)
    return _kind(file.old, file.old_mode, old), _kind(file.new, file.new_mode, new)


def _kind(path: str | None, mode: str, content: bytes | None) -> str:
    if path is None:
        return "(no file)"
    size = "" if content is None else f", {count_of(len(content), 'byte')}"
    return f"{path}{size}{', mode ' if mode else ''}{mode}"


def _rows(hunk: Hunk) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    old: list[str] = []
    new: list[str] = []
    for line in hunk.lines:
        text = line.text.rstrip("\r\n")
        if line.mark == "-":
            old.append(f"-{line.old:>5} {text}")
        elif line.mark == "+":
            new.append(f"+{line.new:>5} {text}")
        else:
            rows += zip_longest(old, new, fillvalue="")
            old, new = [], []
            rows.append((f" {line.old:>5} {text}", f" {line.new:>5} {text}"))
    return [*rows, *zip_longest(old, new, fillvalue="")]
