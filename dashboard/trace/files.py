"""A task's files as they were at some step: the given files with the diffs that the steps recorded."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stackrank.patches.reading import FilePatch, Hunk, Patch, PatchError

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


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
            for file in read_files(edit["diff"]):
                self._change(file)
        return self

    def _change(self, file: FilePatch) -> None:
        path = file.path
        if file.new is None:
            self.texts.pop(path, None)
        elif file.old is None and not file.withheld:
            self.texts[path] = patched("", file.hunks) or ""
            self.lost.discard(path)
        elif path in self.lost or file.withheld or (new := patched(self.texts.get(path, ""), file.hunks)) is None:
            self._lose(path)
        elif file.hunks:  # else only its mode changes
            self.texts[path] = new

    def _lose(self, path: str) -> None:
        self.texts.pop(path, None)
        self.lost.add(path)

    def diff(self) -> str:
        """Return the changes to the given files as a unified diff."""
        paths = sorted({*self.given, *self.texts} - self.lost)
        return "".join(_unified(path, self.given.get(path), self.texts.get(path)) for path in paths)


def read_files(diff: str) -> Sequence[FilePatch]:
    """Return what a diff does to each file; nothing if it cannot be read."""
    try:
        return Patch.read(diff).files
    except PatchError:  # a plug-in's state may say anything
        return ()


def patched(text: str, hunks: Iterable[Hunk]) -> str | None:
    """Apply the hunks of a diff to `text`; None if they were made from a different text."""
    lines = _LINES.findall(text)
    result: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - (1 if hunk.old_length else 0)
        result += lines[at:start]
        at = start
        for line in hunk.lines:
            if line.mark != "+":
                if lines[at : at + 1] != [line.text]:
                    return None
                at += 1
            if line.mark != "-":
                result.append(line.text)
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
