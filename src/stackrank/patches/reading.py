"""Reads patches: those of git, and unified diffs of other programs."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from stackrank.errors import StackrankError
from stackrank.patches.binary import NO_OBJECT, content_of_literal
from stackrank.patches.contents import REGULAR, split_lines
from stackrank.patches.names import first_name, names_of_header, quoted, unquoted, without_prefix

# Not str.splitlines: form feeds and Unicode separators do not end a line of a patch.
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_SIDE = re.compile(r"(?:literal|delta) \d+\n")
_GIT = "diff --git "
_BINARY = "GIT binary patch"
_NO_NEWLINE = "\\ No newline at end of file\n"
_OPPOSITE = {"+": "-", "-": "+", " ": " "}
SUBMODULE = "160000"
"""The mode of a submodule: a commit of another repository."""


class PatchError(StackrankError):
    """The patch cannot be read or does not apply."""


class Line(NamedTuple):
    """A line of a hunk."""

    mark: str
    """`-`: removed, `+`: added, a space: unchanged."""
    text: str
    """Without the mark; it ends with a newline unless it is the last line of a file without one."""
    old: int | None
    """Its number (1-based) in the old file; None if it is added."""
    new: int | None
    """Its number (1-based) in the new file; None if it is removed."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Adjacent lines that change, with those around them."""

    old_start: int
    old_length: int
    new_start: int
    new_length: int
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The hunk as a patch has it."""
        head = f"@@ -{self.old_start},{self.old_length} +{self.new_start},{self.new_length} @@\n"
        return head + "".join(
            f"{line.mark}{line.text}" if line.text.endswith("\n") else f"{line.mark}{line.text}\n{_NO_NEWLINE}"
            for line in self.lines
        )

    def reversed(self) -> Hunk:
        """Return the hunk that undoes this one."""
        lines = tuple(Line(_OPPOSITE[line.mark], line.text, line.new, line.old) for line in self.lines)
        return Hunk(self.new_start, self.new_length, self.old_start, self.old_length, lines)


@dataclass(frozen=True)
class FilePatch:
    """What a patch does to one file."""

    old: str | None
    """Its path before; None if the patch creates it."""
    new: str | None
    """Its path afterwards; None if the patch deletes it."""
    text: str
    """This file's part of the patch, as it was read."""
    old_mode: str = ""
    """Empty if the patch does not say."""
    new_mode: str = ""
    copied: bool = False
    """Whether `old` remains."""
    hunks: tuple[Hunk, ...] = ()
    """What changes in a text."""
    sides: tuple[str, ...] = ()
    """What changes in a binary file: how to make the new content and, if known, how to make the old one."""
    index: tuple[str, str] = (NO_OBJECT, NO_OBJECT)
    """The names under which git stores the contents of a binary file."""
    withheld: bool = False
    """Whether the patch only says that the file changes."""

    @property
    def path(self) -> str:
        """The file's path afterwards or, if it is deleted, before."""
        return self.new if self.new is not None else self.old or ""

    @property
    def paths(self) -> frozenset[str]:
        """The paths on both sides."""
        return frozenset(path for path in (self.old, self.new) if path is not None)

    @property
    def is_submodule(self) -> bool:
        """Whether this is no file, but a submodule."""
        return SUBMODULE in (self.old_mode, self.new_mode)

    @functools.cached_property
    def contents(self) -> tuple[bytes | None, bytes | None] | None:
        """The old and the new content of a binary file; None if the patch does not hold both. Raises PatchError."""
        if len(self.sides) != 2:
            return None
        try:
            new, old = map(content_of_literal, self.sides)
        except ValueError as error:
            raise PatchError(f"the patch of {self.path} cannot be read: {error}") from None
        if old is None or new is None:
            return None
        return None if self.old is None else old, None if self.new is None else new

    def reversed(self) -> FilePatch:
        """Return what undoes this. Raises PatchError if the patch does not hold what is needed for that."""
        if self.withheld or len(self.sides) == 1:
            raise PatchError(f"the patch lacks the content of {self.path}, which is binary, so it cannot be reversed")
        if self.copied:
            raise PatchError(f"the patch copies {self.old} to {self.new}, so it cannot be reversed")
        return _written(
            replace(
                self,
                old=self.new,
                new=self.old,
                old_mode=self.new_mode,
                new_mode=self.old_mode,
                hunks=tuple(hunk.reversed() for hunk in self.hunks),
                sides=self.sides[::-1],
                index=self.index[::-1],
            )
        )

    def renamed(self, rename: Callable[[str], str]) -> FilePatch:
        """Return the same change of a file that has another path on each side."""
        old, new = (None if path is None else rename(path) for path in (self.old, self.new))
        return _written(replace(self, old=old, new=new))


def _written(file: FilePatch) -> FilePatch:
    """Return the change with the text that says what its other fields say."""
    old, new = file.old, file.new
    names = quoted(f"a/{old or new}"), quoted(f"b/{new or old}")
    out = [f"{_GIT}{names[0]} {names[1]}\n"]
    if new is None:
        out.append(f"deleted file mode {file.old_mode or REGULAR}\n")
    elif old is None:
        out.append(f"new file mode {file.new_mode or REGULAR}\n")
    else:
        if file.old_mode != file.new_mode:
            out.append(f"old mode {file.old_mode}\nnew mode {file.new_mode}\n")
        if old != new:
            kind = "copy" if file.copied else "rename"
            out.append(f"{kind} from {quoted(old)}\n{kind} to {quoted(new)}\n")
    if file.sides:
        out += [f"index {file.index[0]}..{file.index[1]}\n{_BINARY}\n", *file.sides]
    elif file.withheld:
        out.append(f"Binary files {names[0] if old else '/dev/null'} and {names[1] if new else '/dev/null'} differ\n")
    elif file.hunks:
        out.append(f"--- {names[0] if old else '/dev/null'}\n+++ {names[1] if new else '/dev/null'}\n")
        out += [hunk.text for hunk in file.hunks]
    return replace(file, text="".join(out))


class Size(NamedTuple):
    """How large a change is."""

    files: int
    added: int
    """Lines; those of binary files do not count."""
    removed: int


@dataclass(frozen=True)
class Patch:
    """A change of some files, as its patch describes it."""

    files: tuple[FilePatch, ...] = ()

    @classmethod
    def read(cls, patch: str | bytes) -> Patch:
        """Read a patch. What is between the files, such as the head of a mail, is left out. Raises PatchError.

        Bytes that are not UTF-8 become surrogates, as in the names of files.
        """
        text = patch.decode("utf-8", "surrogateescape") if isinstance(patch, bytes) else patch
        reader = _Reader(split_lines(text))
        try:
            files = tuple(reader.files())
        except ValueError as error:
            reason = f"line {reader.at + 1}: {error}"
            raise PatchError(f"the patch cannot be read ({reason}): create it again with `git diff --binary`") from None
        if text.strip() and not files:
            raise PatchError("it is not a unified diff: no file is changed in it")
        return cls(files)

    @functools.cached_property
    def text(self) -> str:
        """The patch."""
        return "".join(file.text for file in self.files)

    @functools.cached_property
    def paths(self) -> frozenset[str]:
        """Every path that the patch names, on either side."""
        return frozenset().union(*(file.paths for file in self.files))

    @property
    def size(self) -> Size:
        """How many files and lines change."""
        marks = [line.mark for file in self.files for hunk in file.hunks for line in hunk.lines]
        return Size(len(self.files), marks.count("+"), marks.count("-"))

    def where(self, condition: Callable[[FilePatch], bool]) -> Patch:
        """Return the part of the patch for the files of which the condition is true."""
        return Patch(tuple(filter(condition, self.files)))

    def renamed(self, rename: Callable[[str], str]) -> Patch:
        """Return the same changes of files that have other paths."""
        return Patch(tuple(file.renamed(rename) for file in self.files))

    def reversed(self) -> Patch:
        """Return the patch that undoes this one. Raises PatchError if it does not hold what is needed for that."""
        # A file that becomes a link is deleted and created, in this order.
        groups = (tuple(parts) for _, parts in itertools.groupby(self.files, key=lambda file: file.path))
        return Patch(tuple(file.reversed() for parts in groups for file in reversed(parts)))


class _Reader:
    """Reads the lines of a patch one after another. All methods raise ValueError for lines that are no patch."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.at = 0

    def files(self) -> Iterator[FilePatch]:
        """Yield each file's part."""
        while self.at < len(self._lines):
            if self._line.startswith(_GIT) or self._begins_plain():
                yield self._file()
            else:
                self.at += 1

    @property
    def _line(self) -> str:
        """The current line; empty at the end. Endings of a header count for nothing."""
        return self._lines[self.at].rstrip("\r\n") if self.at < len(self._lines) else ""

    def _begins_plain(self) -> bool:
        following = [*self._lines[self.at : self.at + 3], "", "", ""]
        marks = ("--- ", "+++ ", "@@ -")
        return all(line.startswith(mark) for line, mark in zip(following, marks, strict=False))

    def _file(self) -> FilePatch:
        start = self.at
        header = self._line.removeprefix(_GIT) if self._line.startswith(_GIT) else ""
        self.at += bool(header)
        fields = dict(self._fields())
        hunks, sides = tuple(self._hunks()), tuple(self._sides())
        names = names_of_header(header) or ("", "")
        old, new = (
            without_prefix(fields[mark]) if mark in fields else None if not name else without_prefix(name)
            for mark, name in zip(("---", "+++"), names, strict=True)
        )
        copied = "copy from" in fields
        old = fields.get("copy from", fields.get("rename from", old))
        new = fields.get("copy to", fields.get("rename to", new))
        if "new file mode" in fields:
            old = None
        if "deleted file mode" in fields:
            new = None
        if not (old or new):
            raise ValueError(f"no name of a file in {header!r}")
        objects, _, same = fields.get("index", "").partition(" ")
        before, _, after = objects.partition("..")
        return FilePatch(
            old,
            new,
            "".join(self._lines[start : self.at]),
            old_mode=fields.get("old mode") or fields.get("deleted file mode") or (same if old else ""),
            new_mode=fields.get("new mode") or fields.get("new file mode") or (same if new else ""),
            copied=copied,
            hunks=hunks,
            sides=sides,
            index=(before, after),
            withheld="withheld" in fields,
        )

    def _fields(self) -> Iterator[tuple[str, str]]:
        """Yield the lines of a header: name of the field, value."""
        while self.at < len(self._lines):
            line = self._line
            match = re.match(
                r"(---|\+\+\+|index|(?:new|deleted) file mode|(?:old|new) mode|(?:rename|copy) (?:from|to)) (.+)", line
            )
            if match and match[1] in ("---", "+++"):
                # Other programs write a time after the name, and git a tab after a name with spaces.
                yield match[1], first_name(match[2])
            elif match:
                yield match[1], unquoted(match[2]) if match[1][:6] in ("rename", "copy f", "copy t") else match[2]
            elif re.match(r"(?:Binary files|Files) .* differ$", line):
                yield "withheld", line
            elif not re.match(r"(?:dis)?similarity index ", line):
                return
            self.at += 1

    def _hunks(self) -> Iterator[Hunk]:
        while head := _HUNK.match(self._line):
            old_start, old_length, new_start, new_length = (1 if part is None else int(part) for part in head.groups())
            self.at += 1
            yield Hunk(
                old_start, old_length, new_start, new_length,
                tuple(self._hunk_lines(old_start, old_length, new_start, new_length)),
            )  # fmt: skip

    def _hunk_lines(self, old: int, old_length: int, new: int, new_length: int) -> Iterator[Line]:
        old_end, new_end = old + old_length, new + new_length
        while old < old_end or new < new_end:
            line = self._lines[self.at] if self.at < len(self._lines) else ""
            mark, text = (" ", line) if line == "\n" else (line[:1], line[1:])
            if mark not in _OPPOSITE or (old == old_end and mark != "+") or (new == new_end and mark != "-"):
                raise ValueError("a hunk has fewer lines than its head says" if line else "a hunk is cut off")
            self.at += 1
            if self.at < len(self._lines) and self._lines[self.at].startswith("\\"):
                text = text.removesuffix("\n")
                self.at += 1
            yield Line(mark, text, None if mark == "+" else old, None if mark == "-" else new)
            old += mark != "+"
            new += mark != "-"

    def _sides(self) -> Iterator[str]:
        if self._line != _BINARY:
            return
        self.at += 1
        while self.at < len(self._lines) and _SIDE.match(self._lines[self.at]):
            start = self.at
            while self.at < len(self._lines) and self._line:
                self.at += 1
            yield "".join(self._lines[start : self.at]) + "\n"
            self.at += 1  # an empty line ends it
