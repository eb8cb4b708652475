"""A task's files as they were at some step: the given files with the diffs that the steps recorded."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from stackrank.diffs import HEADER, own_name

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_FILES = re.compile("^" + HEADER + r"(?P<head>(?:(?!diff --git |@@ ).*\n)*)(?P<hunks>(?:[-+ @\\].*\n)*)", re.M)
_HUNK = re.compile(r"^@@ -(\d+)(,0)?.*\n", re.M)


class Files:
    """The files of a task whose texts are known."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """`texts`: path -> text, as the task gives them."""
        self.given = dict(texts)
        self.texts = dict(texts)
        self.lost: set[str] = set()
        """Files with a change that no step shows: binary, too large, or made by the program itself."""

    def follow(self, edits: Iterable[Mapping[str, Any]]) -> Files:
        """Apply the diffs that rows of `db.queries.edits` recorded, and return the same object."""
        for edit in edits:
            for file in _FILES.finditer(edit["diff"]):
                self._change(own_name(file), file["head"], file["hunks"])
        return self

    def _change(self, path: str, head: str, hunks: str) -> None:
        new = None
        if hunks and path not in self.lost:
            new = patched(self.texts.get(path, ""), hunks)
        if head.startswith("deleted "):
            self.texts.pop(path, None)
        elif head.startswith("new ") and " differ\n" not in head:
            self.texts[path] = patched("", hunks) or ""
            self.lost.discard(path)
        elif new is None:
            self._lose(path)
        else:
            self.texts[path] = new

    def _lose(self, path: str) -> None:
        self.texts.pop(path, None)
        self.lost.add(path)

    def diff(self) -> str:
        """Return the changes to the given files as a unified diff."""
        paths = sorted({*self.given, *self.texts} - self.lost)
        return "".join(_unified(path, self.given.get(path), self.texts.get(path)) for path in paths)


def patched(text: str, hunks: str) -> str | None:
    """Apply the hunks of a diff to `text`; None if they were made from a different text."""
    lines = _LINES.findall(text)
    result: list[str] = []
    at = 0
    starts = [*_HUNK.finditer(hunks)]
    for hunk, following in zip_longest(starts, starts[1:]):
        start = int(hunk[1]) - (0 if hunk[2] else 1)
        result += lines[at:start]
        at = start
        body = _LINES.findall(hunks[hunk.end() : following.start() if following else None])
        for line, next_line in zip(body, [*body[1:], ""], strict=True):
            content = line[1:-1] if next_line.startswith("\\") else line[1:]
            if line[0] in " -":
                if lines[at : at + 1] != [content]:
                    return None
                at += 1
            if line[0] in " +":
                result.append(content)
    return "".join(result + lines[at:])


def _unified(path: str, old: str | None, new: str | None) -> str:
    if old == new:
        return ""
    lines = difflib.unified_diff(
        _LINES.findall(old or ""),
        _LINES.findall(new or ""),
        "/dev/null" if old is None else f"a/{path}",
        "/dev/null" if new is None else f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plain_path(path: object) -> str:
    """Return a path in the form in which the workspace names it."""
    return posixpath.normpath(str(path)) if path else ""
