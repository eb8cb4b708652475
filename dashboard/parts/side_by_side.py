"""A unified diff as two texts side by side, line by line."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import NamedTuple

from stackrank.patches.contents import REGULAR
from stackrank.patches.reading import FilePatch, Hunk, Patch
from stackrank.patches.writing import readable_file
from stackrank.wording import count_of, visible

_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.5
"""Lines that have less in common than this share are other lines, not changed ones, so no word of them is marked."""
_MOST_WORDS = 400
"""Words of a line that are compared: what that takes grows with their square."""
_SIGN_AND_NUMBER = 7
"""Characters before the text of a line."""


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


def as_html(file: Sides) -> tuple[str, str]:
    """Return both sides as HTML, a block for each line, with marks around the words in which two lines differ."""
    left_lines, right_lines = (visible(text).split("\n") for text in (file.before, file.after))
    rows = [_marked(old, new) for old, new in zip_longest(left_lines, right_lines, fillvalue="")]
    before, after = (
        f'<div class="side" tabindex="0" role="region" aria-label="{name}">{"".join(row[side] for row in rows)}</div>'
        for side, name in enumerate((f"{escape(file.path)} before", f"{escape(file.path)} after"))
    )
    return before, after


def _marked(old: str, new: str) -> tuple[str, str]:
    """Return two lines that are side by side as HTML."""
    if not (old.startswith("-") and new.startswith("+")):
        return _line(old, escape(old)), _line(new, escape(new))
    left, right = (_WORD.findall(line[_SIGN_AND_NUMBER:]) for line in (old, new))
    left_html, right_html = (escape(line[:_SIGN_AND_NUMBER]) for line in (old, new))
    matcher = SequenceMatcher(None, left[:_MOST_WORDS], right[:_MOST_WORDS], autojunk=False)
    is_change = matcher.ratio() >= _ALIKE
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        is_marked = is_change and kind != "equal"
        left_html += _word(left[start:end], is_marked=is_marked)
        right_html += _word(right[new_start:new_end], is_marked=is_marked)
    return (
        _line(old, left_html + escape("".join(left[_MOST_WORDS:]))),
        _line(new, right_html + escape("".join(right[_MOST_WORDS:]))),
    )


def _word(parts: list[str], *, is_marked: bool) -> str:
    text = escape("".join(parts))
    return f"<mark>{text}</mark>" if is_marked and text.strip() else text


def _line(line: str, html: str) -> str:
    kind = {"-": " removed", "+": " added"}.get(line[:1], "")
    return f'<div class="code{kind}">{html or " "}</div>'
