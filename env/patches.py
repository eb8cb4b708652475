"""Applies and makes unified diffs, and reads from them where a bug is."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from unidiff.patch import PatchedFile, PatchSet

from stackrank.diffs import read_diff
from stackrank.env.file_diffs import file_diff, quoted
from stackrank.env.git import GitError, run_git
from stackrank.env.sandbox.guest.debugging.source import functions
from stackrank.env.task import Fault
from stackrank.errors import StackrankError
from stackrank.source import parse_python

_IMPORT = re.compile(r"(import|from)\s+\S|\s*$")
"""A line that is an unindented import, or empty."""


class PatchError(StackrankError):
    """The diff cannot be read or does not apply."""


def apply_patch(files: Mapping[str, bytes], diff: str) -> dict[str, bytes]:
    """Return the files after a unified diff is applied (by `git apply`). Raises PatchError.

    A diff that fits except for its line endings is applied, and each file keeps the endings that it has.
    """
    try:
        return _apply(files, diff)
    except PatchError:
        touched = {path: files[path] for path in touched_files(diff) if path in files}
        plain = {path: _with_lf(content) for path, content in touched.items()}
        plain_diff = diff.replace("\r\n", "\n")
        if plain == touched and plain_diff == diff:
            raise
        changed = None
        with suppress(PatchError):
            changed = _apply(plain, plain_diff)
        if changed is None:
            raise
    others = {path: content for path, content in files.items() if path not in touched}
    return {**others, **_endings(touched, changed)}


def _with_lf(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _endings(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the new files, whose lines end with LF, with the line endings of the old ones. Raises PatchError."""
    result = {}
    for path, content in new.items():
        before = old.get(path, b"")
        crlf = before.count(b"\r\n")
        if crlf and crlf < before.count(b"\n"):
            raise PatchError(
                f"the patch does not apply: it differs from {path} only in line endings, of which the file has two "
                "kinds: create it again for these files"
            )
        result[path] = content.replace(b"\n", b"\r\n") if crlf else content
    return result


def _apply(files: Mapping[str, bytes], diff: str) -> dict[str, bytes]:
    touched = touched_files(diff)
    with tempfile.TemporaryDirectory(prefix="stackrank-patch-") as name:
        folder = Path(name)
        for path in touched:
            if path in files:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(files[path])
        variables = {"GIT_CEILING_DIRECTORIES": str(folder.parent)}
        content = diff.encode("utf-8", "surrogateescape")
        try:
            run_git("apply", "--whitespace=nowarn", "-", folder=folder, stdin=content, variables=variables)
        except GitError as error:
            raise PatchError(
                f"the patch does not apply ({error.reason[:300]}): create it again for these files"
            ) from None
        result = {path: content for path, content in files.items() if path not in touched}
        for path in touched:
            if (folder / path).is_file():
                result[path] = (folder / path).read_bytes()
    return result


def touched_files(diff: str) -> set[str]:
    """Return every path that a diff names, on either side. Raises PatchError."""
    names = set()
    for file in _read(diff):
        for side in (file.source_file, file.target_file):
            if side and side != "/dev/null":
                name = side.removeprefix("a/").removeprefix("b/")
                if name.startswith("/") or ".." in name.split("/"):
                    raise PatchError(f"the patch leads out of the workspace: {name}")
                if ".git" in name.lower().split("/"):
                    raise PatchError(f"the patch changes a repository's own files: {name}")
                names.add(name)
    return names


def reverse_patch(diff: str) -> str:
    """Return the diff that undoes a diff. Raises PatchError."""
    out = []
    for file in _read(diff):
        if file.is_binary_file:
            raise PatchError(f"the patch changes {file.path}, which is binary, so it cannot be reversed")
        old, new = (side.partition("/")[2] for side in (file.source_file, file.target_file))
        # If a file is added or removed, only the other side has its name.
        old, new = (new if file.is_added_file else old), (old if file.is_removed_file else new)
        out.append(f"diff --git {quoted(f'a/{new}')} {quoted(f'b/{old}')}\n")
        if file.is_rename:
            out.append(f"rename from {quoted(new)}\nrename to {quoted(old)}\n")
        if file.is_added_file:
            out.append("deleted file mode 100644\n")
        if file.is_removed_file:
            out.append("new file mode 100644\n")
        if len(file):
            source = "/dev/null" if file.is_removed_file else quoted(f"a/{new}")
            target = "/dev/null" if file.is_added_file else quoted(f"b/{old}")
            out.append(f"--- {source}\n+++ {target}\n")
        for hunk in file:
            spans = f"-{hunk.target_start},{hunk.target_length} +{hunk.source_start},{hunk.source_length}"
            out.append(f"@@ {spans} @@\n")
            out += [f"{_OPPOSITE.get(line.line_type, line.line_type)}{line.value}" for line in hunk]
    return "".join(out)


_OPPOSITE = {"+": "-", "-": "+"}


def _read(diff: str) -> PatchSet:
    try:
        return read_diff(diff)
    except Exception as error:  # unidiff raises its own exceptions and built-in ones
        raise PatchError(f"the patch cannot be read ({error}): it may be truncated, get it again") from None


def find_faults(files: Mapping[str, bytes], diff: str) -> tuple[Fault, ...]:
    """Find where the known fix touches the files: for pure insertions, the lines on both sides. Raises PatchError.

    Imports that the fix adds or removes do not count, unless it changes nothing else in a file.
    """
    faults = []
    for file in _read(diff):
        path = file.path
        lines = _touched(file, imports=False) or _touched(file, imports=True)
        total = files.get(path, b"").count(b"\n") + 1
        fault_lines = tuple(sorted(line for line in lines if 1 <= line <= total))
        faults.append(Fault(file=path, functions=enclosing(files.get(path, b""), fault_lines), lines=fault_lines))
    return tuple(faults)


def _touched(file: PatchedFile, *, imports: bool) -> set[int]:
    lines: set[int] = set()
    for hunk in file:
        changed = [line for line in hunk if not line.is_context and (imports or not _IMPORT.match(line.value))]
        removed = {line.source_line_no for line in changed if line.is_removed and line.source_line_no}
        lines |= removed
        last = hunk.source_start - 1
        for line in hunk:
            if line.is_added and not removed and (imports or not _IMPORT.match(line.value)):
                lines |= {last, last + 1} if last else {last + 1}
            elif line.source_line_no:
                last = line.source_line_no
    return lines


def function_spans(source: bytes) -> list[tuple[str, int, int]]:
    """Return (qualified name, first line, last line) of every function. Empty if the source does not parse."""
    try:
        return [(name, node.lineno, node.end_lineno) for name, node in functions(parse_python(source))]  # type: ignore[attr-defined]
    except (SyntaxError, ValueError):
        return []


def enclosing(source: bytes, lines: Iterable[int]) -> tuple[str, ...]:
    """Return the qualified names of the innermost functions around the lines. Empty if the source does not parse."""
    spans = function_spans(source)
    names: dict[str, None] = {}
    for line in lines:
        inner = [(last - first, name) for name, first, last in spans if first <= line <= last]
        if inner:
            names[min(inner)[1]] = None
    return tuple(names)


def make_diff(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    """Make a unified diff with git's headers; binary files are named, not shown."""
    paths = sorted(set(old) | set(new))
    return "".join(file_diff(path, old.get(path), new.get(path), max_bytes=sys.maxsize) for path in paths)
