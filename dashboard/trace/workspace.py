"""A task's files as they were at some step: the edits that the steps record, done again on the files as given."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class Workspace:
    """The texts that are known, and which files are not known any more."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """`files`: path -> text, as the task gives them."""
        self.given = dict(files)
        self.files = dict(files)
        self.lost: dict[str, int] = {}
        """File -> the step that changed it in a way that nothing records."""
        self.shell: int | None = None
        """The last step that used the shell, which may have changed anything."""

    def replay(self, edits: Iterable[Mapping[str, Any]]) -> Workspace:
        """Do again what rows of `db.queries.edits` say; returns itself."""
        for edit in edits:
            if edit["tool"] == "bash":
                self.shell = edit["index"]
            else:
                self._edit(edit["index"], edit["tool"], edit["arguments"], edit["edited"])
        return self

    def _edit(self, index: int, tool: str, arguments: Mapping[str, Any], path: str) -> None:
        code, start, end = (arguments.get(name) for name in ("new_code", "start", "end"))
        whole = start is None
        text = self.files.get(path)
        if tool != "rewrite" or not isinstance(code, str) or not (whole or isinstance(start, int)):
            new = None
        elif whole:
            new = rewritten(text or "", code, None, None)
        else:
            new = None if text is None else rewritten(text, code, start, end if isinstance(end, int) else None)
        if new is None:
            self.files.pop(path, None)
            self.lost[path] = index
        else:
            self.files[path] = new
            self.lost.pop(path, None)

    def changed(self) -> list[str]:
        """The files that read otherwise than as given, by name."""
        return sorted(path for path, text in self.files.items() if self.given.get(path) != text)

    def diff(self, since: Mapping[str, str] | None = None) -> str:
        """What changed since `since` (as given for None), as a unified diff."""
        old = self.given if since is None else since
        return "".join(
            unified(path, old.get(path), text) for path, text in sorted(self.files.items()) if old.get(path) != text
        )


def rewritten(text: str, code: str, start: int | None, end: int | None) -> str | None:
    """`text` after `rewrite` with these arguments, line ends and all; None where it has no such lines."""
    crlf = text.count("\r\n") * 2 > text.count("\n")
    code = code.replace("\r\n", "\n").replace("\n", "\r\n") if crlf else code
    if start is None:
        return code
    lines = _LINES.findall(text)
    last = start if end is None else end
    if not 1 <= start <= len(lines) + 1 or not start - 1 <= last <= max(len(lines), start - 1):
        return None
    newline = "\r\n" if crlf else "\n"
    if code and not code.endswith("\n") and (last < len(lines) or not lines or lines[-1].endswith("\n")):
        code += newline
    before = "".join(lines[: start - 1])
    if code and before and not before.endswith("\n"):
        before += newline
    return before + code + "".join(lines[last:])


def unified(path: str, old: str | None, new: str) -> str:
    """The unified diff of one file; `old` None: it is new."""
    lines = difflib.unified_diff(
        (old or "").splitlines(keepends=True),
        new.splitlines(keepends=True),
        "/dev/null" if old is None else f"a/{path}",
        f"b/{path}",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def plain_path(path: object) -> str:
    """A path as the workspace names it."""
    return posixpath.normpath(str(path)) if path else ""
