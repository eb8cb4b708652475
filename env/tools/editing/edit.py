"""Editing as models know it, by the text in the file instead of line numbers; and undoing an edit."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import Edit
from stackrank.env.state import EditState
from stackrank.env.tools.base import Arguments, Bench, ToolError, Undoable
from stackrank.env.tools.view import decode

MAX_BYTES = 2 << 20
_MOST_PLACES = 8


class StrReplaceArguments(Arguments):
    """Which text to replace, and by what."""

    body = "new_str"
    replaces = "old_str"

    path: str = Field(description="File, relative to the workspace.")
    old_str: str = Field(description="The text to replace, exactly as it is in the file. It has to occur once.")
    new_str: str = Field(description="The new text, with its indentation. Empty: delete the old text.")


class StrReplace:
    """Replaces a text that occurs once."""

    name = "str_replace"
    version = "1"
    description = "Replace a text in a file; it has to occur exactly once. Shows the changed place."
    arguments = StrReplaceArguments

    def __call__(self, bench: Bench, arguments: StrReplaceArguments) -> Observation:
        """Edit the file, or refuse and change nothing."""
        text = decode(bench.sandbox.read(arguments.path)).replace("\r\n", "\n")
        old, new = (each.replace("\r\n", "\n") for each in (arguments.old_str, arguments.new_str))
        if not old:
            raise ToolError("old_str is empty: use insert to add text, create to write a file")
        if text.count(old) != 1:
            raise ToolError(_why_not_once(arguments.path, text, old))
        start, stop, lines = _lines(text, old, new)
        return edited(bench, arguments.path, lines, start, stop)


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
    description = "Insert lines into a file after a line. Shows the changed place."
    arguments = InsertArguments

    def __call__(self, bench: Bench, arguments: InsertArguments) -> Observation:
        """Edit the file, or refuse and change nothing."""
        if not arguments.new_str:
            raise ToolError("new_str is empty: there is nothing to insert")
        return edited(bench, arguments.path, arguments.new_str, arguments.line + 1, arguments.line)


class CreateArguments(Arguments):
    """Which file to write, and what."""

    body = "content"

    path: str = Field(description="The new file, relative to the workspace.")
    content: str = Field(description="All of its text.")


class Create:
    """Writes a file that does not exist yet."""

    name = "create"
    version = "1"
    description = "Create a file. One that exists is not overwritten."
    arguments = CreateArguments

    def __call__(self, bench: Bench, arguments: CreateArguments) -> Observation:
        """Write the file, or refuse."""
        if _before(bench, arguments.path) is not None:
            raise ToolError(f"{arguments.path} exists already: change it with str_replace or insert")
        return edited(bench, arguments.path, arguments.content)


class UndoArguments(Arguments):
    """`undo` takes no arguments."""


class Undo:
    """Undoes the last edit."""

    name = "undo"
    version = "1"
    description = "Take the last edit back that was not taken back yet."
    arguments = UndoArguments

    def __call__(self, bench: Bench, arguments: UndoArguments) -> Observation:
        """Restore the file as it was, or refuse if something else has changed it since the edit."""
        if not bench.edits:
            raise ToolError("there is no edit to take back")
        last = bench.edits[-1]
        if _before(bench, last.path) != last.after:
            raise ToolError(f"{last.path} was changed otherwise since its last edit: nothing was taken back")
        bench.edits.pop()
        state = EditState(kind="edit", edited=last.path, lines=[1, 1])
        bench.sandbox.restore(last.path, last.before)
        what = "is gone again" if last.before is None else "is as it was before its last edit"
        return Observation(f"{last.path} {what}.", state=state)


def edited(bench: Bench, path: str, text: str, start: int | None = None, end: int | None = None) -> Observation:
    """Replace lines `start` to `end` of a file, or all of it, as `Sandbox.edit` does; the edit can be undone.

    If the tool set demands it, a file that parsed has to parse afterwards. Raises ToolError or Refused, and changes
    nothing then.
    """
    plain = bench.sandbox.resolve(path)
    if not bench.task.may_edit(plain):
        own = f"; tests of your own go into {bench.own_test}" if bench.own_test else ""
        raise ToolError(f"{path} is read-only: mend the program, not what tests it{own}")
    if len(text) > MAX_BYTES:
        raise ToolError(f"the new text has {len(text)} characters; at most {MAX_BYTES} can be written")
    before = _before(bench, path)
    done = bench.sandbox.edit(path, text, start, end)
    if done.syntax_error and bench.must_parse:
        if not bench.sandbox.restore(plain, before):
            raise ToolError(f"nothing was changed, because {path} would not parse: {done.syntax_error}")
        done = bench.sandbox.edit(path, text, start, end)  # the file did not parse before either
    state = EditState(kind="edit", edited=plain, lines=done.touched)
    if done.syntax_error:
        state["syntax_error"] = done.syntax_error
    if not done.changed and not done.created:
        return Observation(f"{path} already reads like that; nothing changed.", state=state)
    bench.edits.append(Undoable(plain, before, done.content))
    return Observation(_told(path, done, start), state=state)


def _told(path: str, done: Edit, start: int | None) -> str:
    head = f"Rewrote {path}: {done.replaced} lines replaced by {done.added}."
    if done.created:
        head = f"Created {path}: {done.added} line{'s' if done.added != 1 else ''}."
    if done.syntax_error:
        head += f"\nThe file does not parse: {done.syntax_error}"
    return head if start is None else f"{head}\n{_around(done)}"


def _around(done: Edit, margin: int = 3) -> str:
    lines = decode(done.content).split("\n")
    start = max(done.first - margin, 1)
    stop = min(done.first + min(done.added, 60) - 1 + margin, len(lines))
    return "\n".join(f"{number:>5}  {lines[number - 1].rstrip(chr(13))[:300]}" for number in range(start, stop + 1))


def _before(bench: Bench, path: str) -> bytes | None:
    try:
        return bench.sandbox.read(path)
    except Refused:  # it does not exist, or is something that cannot be edited either
        return None


def _lines(text: str, old: str, new: str) -> tuple[int, int, str]:
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


def _why_not_once(path: str, text: str, old: str) -> str:
    lines = [text.count("\n", 0, at) + 1 for at in _places(text, old)]
    if lines:
        more = ", ..." if len(lines) > _MOST_PLACES else ""
        shown = ", ".join(map(str, lines[:_MOST_PLACES]))
        return f"old_str occurs {len(lines)} times in {path}, at lines {shown}{more}: take in more of what is around it"
    plain = [" ".join(line.split()) for line in old.strip().split("\n")]
    there = [" ".join(line.split()) for line in text.split("\n")]
    alike = [n + 1 for n in range(len(there)) if there[n : n + len(plain)] == plain]
    hint = f"; line {alike[0]} differs from it in white space only" if alike and any(plain) else ""
    return f"old_str is not in {path}{hint}: view the file, and repeat the text exactly"


def _places(text: str, old: str) -> list[int]:
    places, at = [], text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + len(old))
    return places
