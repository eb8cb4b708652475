"""Writes patches in git's form: exact ones, and those that people and models read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stackrank.patches.binary import literal, object_name
from stackrank.patches.comparing import LineChange, find_changes
from stackrank.patches.contents import Link, decode_text, is_utf8_text, mode_of, split_lines, stored_bytes
from stackrank.patches.names import quoted
from stackrank.patches.reading import FilePatch, Patch, PatchError

# Not str.splitlines: form feeds and Unicode separators do not end a line of a patch.
_CONTEXT = 3
MOST_SHOWN = 256 << 10
"""The most bytes of a change that is shown, unless the caller says otherwise."""


def file_patch(path: str, old: bytes | None, new: bytes | None) -> str:
    """Return the exact patch of one file; empty if nothing changed. None stands for a file that does not exist.

    It is UTF-8 text. A file that is not is written as git writes binary files, with both of its contents.
    """
    if old == new:
        return ""
    if old is not None and new is not None and isinstance(old, Link) != isinstance(new, Link):
        return file_patch(path, old, None) + file_patch(path, None, new)  # as git does
    before, after = (None if side is None else stored_bytes(side) for side in (old, new))
    parts = [_head(path, old, new)]
    if before == after:
        return parts[0]
    if is_utf8_text(before or b"") and is_utf8_text(after or b""):
        parts += _hunks(path, None if before is None else before.decode(), None if after is None else after.decode())
    else:
        parts.append(f"index {object_name(before)}..{object_name(after)}\nGIT binary patch\n")
        parts += [literal(after or b""), literal(before or b"")]
    return "".join(parts)


def file_diff(path: str, old: bytes | None, new: bytes | None, max_bytes: int = MOST_SHOWN) -> str:
    """Return what changed in one file, for readers; empty if nothing did. None stands for a file that does not exist.

    Texts are decoded as the file declares, so the result need not apply. Binary files, and changes that are larger than
    `max_bytes`, are named but not shown.
    """
    if old == new:
        return ""
    head = _head(path, old, new)
    before, after = (None if side is None else stored_bytes(side) for side in (old, new))
    if before == after:
        return head
    names = quoted(f"a/{path}"), quoted(f"b/{path}")
    if abs(len(before or b"") - len(after or b"")) > max_bytes:
        return f"{head}Files {names[0]} and {names[1]} differ\n"
    texts = tuple(None if side is None else decode_text(side, path) for side in (before, after))
    if any(text is None and side is not None for text, side in zip(texts, (before, after), strict=True)):
        return f"{head}Binary files {names[0]} and {names[1]} differ\n"
    parts = [head, *_hunks(path, *texts)]
    if sum(map(len, parts)) > max_bytes:
        return f"{head}Files {names[0]} and {names[1]} differ\n"
    return "".join(parts)


def unshown(path: str) -> str:
    """Return the part of a diff that only says that a file differs."""
    names = quoted(f"a/{path}"), quoted(f"b/{path}")
    return "diff --git {0} {1}\nFiles {0} and {1} differ\n".format(*names)


def readable(patch: Patch) -> Patch:
    """Return a patch for readers: texts that the patch holds as binary files, since they are not UTF-8, are decoded."""
    return Patch(tuple(map(readable_file, patch.files)))


def shown_text(patch: str) -> str:
    """Return the text of a patch for readers; see `readable`. A text that is no patch is returned as it is."""
    try:
        return readable(Patch.read(patch)).text
    except PatchError:
        return patch


def readable_file(file: FilePatch) -> FilePatch:
    """Return one file of a patch for readers; see `readable`. It is the same if the patch does not hold its text."""
    contents = file.contents
    if contents is None:
        return file
    diff = file_diff(file.path, *contents)
    hunks = Patch.read(diff).files[0].hunks if diff else ()
    return replace(file, text=diff or file.text, hunks=hunks, sides=(), withheld=not hunks)


def _head(path: str, old: bytes | None, new: bytes | None) -> str:
    head = f"diff --git {quoted('a/' + path)} {quoted('b/' + path)}\n"
    if old is None and new is not None:
        return f"{head}new file mode {mode_of(new)}\n"
    if new is None and old is not None:
        return f"{head}deleted file mode {mode_of(old)}\n"
    modes = [mode_of(side) for side in (old, new) if side is not None]
    return head if modes[0] == modes[-1] else f"{head}old mode {modes[0]}\nnew mode {modes[-1]}\n"


def _hunks(path: str, old: str | None, new: str | None) -> Iterator[str]:
    source = "/dev/null" if old is None else quoted(f"a/{path}")
    target = "/dev/null" if new is None else quoted(f"b/{path}")
    return _unified(split_lines(old or ""), split_lines(new or ""), source, target)


def _unified(old_lines: list[str], new_lines: list[str], source: str, target: str) -> Iterator[str]:
    yield f"--- {source}\n+++ {target}\n"
    for changes in _group_changes(find_changes(old_lines, new_lines)):
        first, last = changes[0], changes[-1]
        before = min(first.old.start, _CONTEXT)
        after = min(len(old_lines) - last.old.stop, _CONTEXT)
        old = range(first.old.start - before, last.old.stop + after)
        new = range(first.new.start - before, last.new.stop + after)
        yield f"@@ -{_position(old)} +{_position(new)} @@\n"
        at = old.start
        for change in changes:
            yield from _mark_lines(" ", old_lines[at : change.old.start])
            yield from _mark_lines("-", old_lines[change.old.start : change.old.stop])
            yield from _mark_lines("+", new_lines[change.new.start : change.new.stop])
            at = change.old.stop
        yield from _mark_lines(" ", old_lines[at : old.stop])


def _group_changes(changes: Iterable[LineChange]) -> Iterator[list[LineChange]]:
    """Yield the changes that one hunk holds, since their contexts meet."""
    group: list[LineChange] = []
    for change in changes:
        if group and change.old.start - group[-1].old.stop > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _position(lines: range) -> str:
    """Return where lines are, as the head of a hunk says it: an empty range follows the line that it names."""
    if len(lines) == 1:
        return f"{lines.start + 1}"
    return f"{lines.start + bool(lines)},{len(lines)}"


def _mark_lines(mark: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
