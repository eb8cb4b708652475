"""Editing as models know it, by the text in the file instead of line numbers; and undoing an edit."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import Edit
from stackrank.env.state import EditState
from stackrank.env.tools.base import Arguments, Bench, ToolError, Undoable
from stackrank.env.tools.shown import number_lines
from stackrank.env.tools.view import decode, lines_of, read_if_present
from stackrank.wording import count_of

MAX_BYTES = 2 << 20
_MOST_NEW, _MOST_OLD, _LONGEST_LINE = 60, 20, 300
"""How many new and replaced lines an edit shows, and how many characters of each."""
_MOST_PLACES = 8


class StrReplaceArguments(Arguments):
    """Which text to replace, and the new text."""

    body = "new_str"
    replaces = "old_str"

    path: str = Field(description="File, relative to the workspace.")
    old_str: str = Field(description="The text to replace, exactly as it is in the file. It has to occur once.")
    new_str: str = Field(description="The new text, with its indentation. Empty: delete the old text.")


class StrReplace:
    """Replaces a text that occurs once."""

    name = "str_replace"
    version = "1"
    description = "Replace a text in a file; it has to occur exactly once. Shows the changed lines."
    arguments = StrReplaceArguments

    def __call__(self, bench: Bench, arguments: StrReplaceArguments) -> Observation:
        """Edit the file, or refuse and change nothing."""
        file = open_file(bench, arguments.path)
        text = decode(file.existing_content(), arguments.path).replace("\r\n", "\n")
        old, new = (text.replace("\r\n", "\n") for text in (arguments.old_str, arguments.new_str))
        if not old:
            raise ToolError("old_str is empty: use insert to add text, create to write a file")
        if text.count(old) != 1:
            raise ToolError(_explain_mismatch(arguments.path, text, old))
        start, stop, lines = _whole_lines(text, old, new)
        return edit_file(bench, file, lines, start, stop)


class InsertArguments(Arguments):
    """Where to insert, and what."""

    body = "new_str"

    path: str = Field(description="File, relative to the workspace.")
    line: int = Field(ge=0, description="The line after which the text goes (1-based); 0: before the first.")
    new_str: str = Field(description="The new lines, with their indentation.")


class Insert:
    """Adds lines after a line."""

    name = "insert"
    version = "1"
    description = "Insert lines into a file after a line. Shows the changed lines."
    arguments = InsertArguments

    def __call__(self, bench: Bench, arguments: InsertArguments) -> Observation:
        """Edit the file, or refuse and change nothing."""
        file = open_file(bench, arguments.path)
        if not arguments.new_str:
            raise ToolError("new_str is empty: there is nothing to insert")
        total = len(lines_of(file.content, arguments.path)) if file.content else 0
        if arguments.line > total:
            raise ToolError(f"{arguments.path} has {count_of(total, 'line')}: there is no line {arguments.line}")
        return edit_file(bench, file, arguments.new_str, arguments.line + 1, arguments.line)


class CreateArguments(Arguments):
    """Which file to write, and what."""

    body = "content"

    path: str = Field(description="The new file, relative to the workspace.")
    content: str = Field(description="All of its text.")


class Create:
    """Writes a file that does not exist yet."""

    name = "create"
    version = "1"
    description = "Create a file. An existing file is not overwritten."
    arguments = CreateArguments

    def __call__(self, bench: Bench, arguments: CreateArguments) -> Observation:
        """Write the file, or refuse."""
        file = open_file(bench, arguments.path)
        if file.content is not None:
            raise ToolError(f"{arguments.path} already exists: change it with str_replace or insert")
        return edit_file(bench, file, arguments.content)


class UndoArguments(Arguments):
    """`undo` takes no arguments."""


class Undo:
    """Undoes the last edit."""

    name = "undo"
    version = "1"
    description = "Undo the most recent edit."
    arguments = UndoArguments

    def __call__(self, bench: Bench, arguments: UndoArguments) -> Observation:
        """Restore the file as it was, or refuse if something else has changed it since the edit."""
        if not bench.edits:
            raise ToolError("there is no edit to undo")
        last = bench.edits[-1]
        if read_if_present(bench, last.path) != last.new:
            raise ToolError(f"{last.path} has changed since that edit, so nothing was undone")
        bench.edits.pop()
        state = EditState(kind="edit", edited=last.path, lines=[1, 1])
        bench.sandbox.restore(last.path, last.old)
        target = "creation of" if last.old is None else "last edit of"
        return Observation(f"Undid the {target} {last.path}.", state=state)


@dataclass(frozen=True)
class OpenedFile:
    """A file that may be edited, as it is before the edit."""

    name: str
    """The path as the agent wrote it."""
    path: str
    """The path relative to the workspace."""
    reading: bytes | Refused
    """Its content, or why it has none."""

    @property
    def content(self) -> bytes | None:
        """The content; None if the file does not exist yet, or cannot be read."""
        return None if isinstance(self.reading, Refused) else self.reading

    def existing_content(self) -> bytes:
        """Return the content. Raises Refused if there is none."""
        if isinstance(self.reading, Refused):
            raise self.reading
        return self.reading


def open_file(bench: Bench, path: str) -> OpenedFile:
    """Return a file to be edited, or to be created. Raises ToolError for a read-only file, and Refused."""
    resolved = bench.sandbox.resolve(path)
    if not bench.task.may_edit(resolved):
        hint = f"; write tests of your own in {bench.own_test}" if bench.own_test else ""
        raise ToolError(f"{path} is read-only: fix the program, not its tests{hint}")
    try:
        return OpenedFile(path, resolved, bench.sandbox.read(path))
    except Refused as refusal:
        return OpenedFile(path, resolved, refusal)


def edit_file(
    bench: Bench,
    file: OpenedFile,
    text: str,
    start: int | None = None,
    end: int | None = None,
    *,
    shows_old: bool = False,
) -> Observation:
    """Replace lines `start` to `end` of a file, or all of it, as `Sandbox.edit` does; the edit can be undone.

    `shows_old`: also show the lines that were replaced, for agents that named them by their numbers only. If the tool
    set demands it, a file that parsed has to parse afterwards. Raises ToolError or Refused, and changes nothing then.
    """
    if len(text) > MAX_BYTES:
        raise ToolError(f"the new text has {count_of(len(text), 'character')}; at most {MAX_BYTES:,} can be written")
    path = file.name
    edit = bench.sandbox.edit(path, text, start, end)
    if edit.syntax_error and bench.must_parse:
        if not bench.sandbox.restore(file.path, file.content):
            raise ToolError(f"nothing was changed, because {path} would not parse: {edit.syntax_error}")
        edit = bench.sandbox.edit(path, text, start, end)  # the file did not parse before either
    state = EditState(kind="edit", edited=file.path, lines=list(edit.touched))
    if edit.syntax_error:
        state["syntax_error"] = edit.syntax_error
    if not edit.changed and not edit.created:
        return Observation(f"{path} already has this content.", state=state)
    bench.edits.append(Undoable(file.path, file.content, edit.content))
    old_lines = _replaced(file.content, path, edit) if shows_old else []
    return Observation(_describe_edit(path, edit, start, old_lines), state=state)


def _describe_edit(path: str, edit: Edit, start: int | None, old_lines: Sequence[str]) -> str:
    head = f"Created {path}: {count_of(edit.added, 'line')}." if edit.created else _describe_lines(path, edit, start)
    if edit.syntax_error:
        head += f"\nThe file does not parse: {edit.syntax_error}"
    return head if start is None else "\n".join([head, *_excerpt(path, edit, old_lines)])


def _describe_lines(path: str, edit: Edit, start: int | None) -> str:
    if start is None:
        return f"Replaced the content of {path}: {count_of(edit.added, 'line')}."
    if not edit.replaced:
        return f"Inserted {count_of(edit.added, 'line')} at line {edit.first} of {path}."
    last = edit.first + edit.replaced - 1
    lines = f"line {last}" if edit.replaced == 1 else f"lines {edit.first} to {last}"
    if not edit.added:
        return f"Deleted {lines} of {path}."
    by = "" if edit.added == edit.replaced else f" by {count_of(edit.added, 'line')}"
    return f"Replaced {lines} of {path}{by}."


def _excerpt(path: str, edit: Edit, old_lines: Sequence[str], margin: int = 3) -> list[str]:
    """Return a diff with line numbers: `old_lines`, the new lines, and those around them."""
    lines = [line[:_LONGEST_LINE] for line in lines_of(edit.content, path)]
    above, behind = edit.first - 1, edit.first - 1 + edit.added
    start = max(above - margin, 0)
    width = len(str(max(min(behind + margin, len(lines)), above + len(old_lines))))
    gone, new = old_lines[:_MOST_OLD], lines[above:behind][:_MOST_NEW]
    omitted_old, omitted_new = len(old_lines) - len(gone), edit.added - len(new)
    return [
        *number_lines(lines[start:above], start + 1, width=width),
        *number_lines([line[:_LONGEST_LINE] for line in gone], edit.first, mark="-", width=width),
        *([f"[{count_of(omitted_old, 'further line')} replaced]"] if omitted_old else []),
        *number_lines(new, edit.first, mark="+", width=width),
        *([f"[{count_of(omitted_new, 'further new line')}]"] if omitted_new else []),
        *number_lines(lines[behind : behind + margin], behind + 1, width=width),
    ]


def _replaced(content: bytes | None, path: str, edit: Edit) -> list[str]:
    """Return the lines that an edit replaced; none if what was there cannot be read as text."""
    if content is None:
        return []
    with contextlib.suppress(ToolError):
        return lines_of(content, path)[edit.first - 1 : edit.first - 1 + edit.replaced]
    return []


def _whole_lines(text: str, old: str, new: str) -> tuple[int, int, str]:
    """Return the replacement in whole lines: the first and last line to replace, and the text that replaces them."""
    at = text.index(old)
    stop = at + len(old)
    head = text[text.rfind("\n", 0, at) + 1 : at]
    first = text.count("\n", 0, at) + 1
    if old.endswith("\n") and (new.endswith("\n") or not head + new):
        return first, text.count("\n", 0, stop), head + new
    end = text.find("\n", stop)
    tail = text[stop : len(text) if end < 0 else end]
    # A line that has become empty is still a line.
    return first, text.count("\n", 0, stop) + 1, head + new + tail or "\n"


def _explain_mismatch(path: str, text: str, old: str) -> str:
    lines = [text.count("\n", 0, at) + 1 for at in _find_all(text, old)]
    if lines:
        different = list(dict.fromkeys(lines))
        ellipsis = ", ..." if len(different) > _MOST_PLACES else ""
        numbers = ", ".join(map(str, different[:_MOST_PLACES]))
        plural = "s" if len(different) > 1 else ""
        places = f"occurs {len(lines)} times in {path}, at line{plural} {numbers}{ellipsis}"
        return f"old_str {places}: include more of the text around it"
    needle = [" ".join(line.split()) for line in old.strip().split("\n")]
    haystack = [" ".join(line.split()) for line in text.split("\n")]
    matches = [n + 1 for n in range(len(haystack)) if haystack[n : n + len(needle)] == needle]
    hint = f"; line {matches[0]} differs only in white space" if matches and any(needle) else ""
    return f"old_str is not in {path}{hint}: view the file and copy the text exactly"


def _find_all(text: str, old: str) -> list[int]:
    places, at = [], text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + len(old))
    return places
