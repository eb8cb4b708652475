"""Applies patches to trees of files (path -> content), makes them, and reads from them where a bug is."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from stackrank.env.git import GitError, run_git
from stackrank.env.sandbox.guest.debugging.source import functions
from stackrank.env.task import Fault
from stackrank.host.scratch import scratch
from stackrank.patches.contents import Link, like, link_destination, read_content, write_content
from stackrank.patches.reading import FilePatch, Patch, PatchError
from stackrank.patches.writing import file_patch, readable_file
from stackrank.source import parse_python

__all__ = [
    "PatchError", "apply_patch", "enclosing", "find_faults", "function_spans", "make_diff", "portable_patch",
    "reverse_patch", "touched_files",
]  # fmt: skip

_IMPORT = re.compile(r"(import|from)\s+\S|\s*$")
"""A line that is an unindented import, or empty."""
# A repository of ours around the files. Its attributes have precedence over those in a `.gitattributes` that a patch
# touches, so git converts no line endings, keywords or encodings.
_REPOSITORY = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tprotectNTFS = false\n",
    "info/attributes": "* -text !eol -ident !filter !working-tree-encoding\n",
}


def apply_patch(files: Mapping[str, bytes], patch: str) -> dict[str, bytes]:
    """Return the files after a patch is applied (by `git apply`). Submodules are left alone. Raises PatchError.

    A patch that fits except for its line endings is applied, and each file keeps the endings that it has.
    """
    change = _read_files(patch)
    try:
        return _apply(files, change)
    except PatchError:
        if b"\r\n" not in patch.encode("utf-8", "surrogateescape") and not any(
            b"\r\n" in files.get(path, b"") for path in change.paths
        ):
            raise
    result = dict(files)
    for file in change.files:
        result = _apply_with_endings(result, file)
    return result


def _apply_with_endings(files: Mapping[str, bytes], file: FilePatch) -> dict[str, bytes]:
    """Apply one file's patch, even if its line endings differ from the file's, which the file keeps."""
    part = Patch((file,))
    try:
        return _apply(files, part)
    except PatchError as error:
        old = files.get(file.old or "", b"")
        lf = {**files, file.old or "": old.replace(b"\r\n", b"\n")}
        changed = None
        with suppress(PatchError):
            changed = _apply(lf, Patch.read(part.text.replace("\r\n", "\n")))
        if changed is None or file.old not in files:
            raise error
    crlf = old.count(b"\r\n")
    if crlf and crlf < old.count(b"\n"):
        raise PatchError(
            f"the patch does not apply: it differs from {file.old} only in line endings, of which the file has two "
            "kinds: create it again for these files"
        )
    if crlf and file.new is not None:
        changed[file.new] = like(changed[file.new].replace(b"\n", b"\r\n"), changed[file.new])
    return {path: content for path, content in changed.items() if path in files or path == file.new}


def _apply(files: Mapping[str, bytes], change: Patch) -> dict[str, bytes]:
    touched = _checked_paths(change)
    with scratch() as folder:
        for path, text in _REPOSITORY.items():
            write_content(folder / ".git" / path, text.encode())
        for path in ("objects", "refs"):
            (folder / ".git" / path).mkdir()
        for path in touched:
            if path in files:
                write_content(folder / path, files[path])
        variables = {"GIT_DIR": str(folder / ".git"), "GIT_WORK_TREE": str(folder)}
        content = change.text.encode("utf-8", "surrogateescape")
        try:
            run_git("apply", "--whitespace=nowarn", "-", folder=folder, stdin=content, variables=variables)
        except GitError as error:
            raise PatchError(
                f"the patch does not apply ({error.reason[:300]}): create it again for these files"
                + (" with `git diff --binary`" if any(file.withheld for file in change.files) else "")
            ) from None
        result = {path: content for path, content in files.items() if path not in touched}
        for path in sorted(touched):
            content_read = read_content(folder / path)
            if content_read is not None:
                result[path] = content_read
    for path in touched & {*result}:
        link = result[path]
        if isinstance(link, Link):
            result[path] = Link(link.target, result.get(link_destination(path, link.target) or "", b""))
    return result


def touched_files(patch: str) -> set[str]:
    """Return the path of every file that a patch names, on either side. Raises PatchError."""
    return _checked_paths(_read_files(patch))


def _checked_paths(change: Patch) -> set[str]:
    for name in change.paths:
        if name.startswith("/") or ".." in name.split("/"):
            raise PatchError(f"the patch leads out of the workspace: {name}")
        if ".git" in name.lower().split("/"):
            raise PatchError(f"the patch changes a repository's own files: {name}")
    return set(change.paths)


@functools.lru_cache(maxsize=256)
def _read_files(patch: str) -> Patch:
    """Read a patch without what it does to submodules."""
    return Patch.read(patch).where(lambda file: not file.is_submodule)


def reverse_patch(patch: str) -> str:
    """Return the patch that undoes a patch. Raises PatchError."""
    return Patch.read(patch).reversed().text


def find_faults(files: Mapping[str, bytes], patch: str) -> tuple[Fault, ...]:
    """Find where the known fix touches the files: for pure insertions, the lines on both sides. Raises PatchError.

    Imports that the fix adds or removes do not count, unless it changes nothing else in a file.
    """
    faults = []
    for file in map(readable_file, _read_files(patch).files):
        path = file.path
        lines = _touched(file, imports=False) or _touched(file, imports=True)
        total = files.get(path, b"").count(b"\n") + 1
        fault_lines = tuple(sorted(line for line in lines if 1 <= line <= total))
        faults.append(Fault(file=path, functions=enclosing(files.get(path, b""), fault_lines), lines=fault_lines))
    return tuple(faults)


def _touched(file: FilePatch, *, imports: bool) -> set[int]:
    lines: set[int] = set()
    for hunk in file.hunks:
        changed = [line for line in hunk.lines if line.mark != " " and (imports or not _IMPORT.match(line.text))]
        removed = {line.old for line in changed if line.mark == "-" and line.old}
        lines |= removed
        last = hunk.old_start - 1
        for line in hunk.lines:
            if line.mark == "+" and not removed and (imports or not _IMPORT.match(line.text)):
                lines |= {last, last + 1} if last else {last + 1}
            elif line.old:
                last = line.old
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


def portable_patch(files: Mapping[str, bytes], patch: str) -> str:
    """Return a patch that can be stored anywhere: the same one if it is UTF-8, else what it does to these files.

    Raises PatchError.
    """
    try:
        patch.encode()
    except UnicodeEncodeError:
        paths = touched_files(patch)
        old = {path: files[path] for path in paths if path in files}
        return make_diff(old, apply_patch(old, patch))
    return patch


def make_diff(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> str:
    """Make the patch that turns one tree of files into another. It is exact, and UTF-8 text whatever the files are."""
    return "".join(file_patch(path, old.get(path), new.get(path)) for path in sorted({*old, *new}))
