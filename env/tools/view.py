"""The tool that shows a file."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.base import Refused
from stackrank.env.sandbox.client import LONGEST_PATH
from stackrank.env.sandbox.guest.core.texts import LINES_OF_FILE, find_encoding
from stackrank.env.state import ShownState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.listdir import list_folder
from stackrank.env.tools.shown import MOST_ASKED, MOST_OF_A_FILE, fit_lines, number_lines
from stackrank.wording import count_of

MAX_LINES = 400


class ViewArguments(Arguments):
    """What to show."""

    path: str = Field(description="File or directory, relative to the workspace.")
    start: int | None = Field(None, ge=1, description="First line to show (1-based). Default: the first.")
    end: int | None = Field(
        None, ge=1, description=f"Last line to show, inclusive: at most {MAX_LINES} lines. Default: as many as fit."
    )
    limit: int = Field(
        MOST_OF_A_FILE,
        ge=500,
        le=MOST_ASKED,
        description=f"Most characters to show if `end` is not given. Default: {MOST_OF_A_FILE}.",
    )

    @property
    def most_shown(self) -> int:
        """The most characters to show. `limit` does not apply if `end` asks for all lines up to it."""
        return self.limit if self.end is None else MOST_ASKED


class View:
    """Shows a file with line numbers."""

    name = "view"
    version = "2"
    description = "Show a file, or some of its lines, with line numbers. For a directory, list the files below it."
    arguments = ViewArguments

    def __call__(self, bench: Bench, arguments: ViewArguments) -> Observation:
        """Return the lines asked for: only whole lines, and at most MAX_LINES."""
        # As tools show places; from a single line on, as many lines as fit are shown.
        place = LINES_OF_FILE.fullmatch(arguments.path) if len(arguments.path) <= LONGEST_PATH else None
        if place and arguments.start is arguments.end is None and read_if_present(bench, arguments.path) is None:
            named = {"path": place[1], "start": int(place[2]) or 1, "end": place[3] and int(place[3])}
            arguments = arguments.model_copy(update=named)
        try:
            lines = lines_of(bench.sandbox.read(arguments.path), arguments.path)
        except Refused as refused:
            try:
                return list_folder(bench, arguments.path, 2, arguments.limit)
            except Refused:
                raise refused from None
        total = len(lines)
        first = arguments.start or 1
        if total and first > total:
            raise ToolError(f"{arguments.path} has {count_of(total, 'line')}; line {first} does not exist")
        if arguments.end is not None and arguments.end < first:
            raise ToolError(f"the last line ({arguments.end}) comes before the first ({first})")
        last = min(arguments.end or total, total, first + MAX_LINES - 1)
        numbered = number_lines([line[:2000] for line in lines[first - 1 : last]], first)
        visible = fit_lines(numbered, arguments.most_shown - len(arguments.path) - 120) or numbered[:1]
        last = first + len(visible) - 1
        visible_text = "\n".join(visible)
        note = "" if bench.task.may_edit(arguments.path) else ", read-only"
        if arguments.end is None and last < total:
            note += f" (start={last + 1} shows the next lines; with `end`, up to {MAX_LINES} lines)"
        head = (
            f"{arguments.path}, lines {first} to {last} of {total}{note}:" if total else f"{arguments.path} is empty."
        )
        state = ShownState(kind="shown", path=arguments.path, lines=[first, last])
        return Observation(f"{head}\n{visible_text}" if total else head, state=state)


def read_if_present(bench: Bench, path: str) -> bytes | None:
    """Return the content of a file; None if it does not exist, or cannot be read."""
    try:
        return bench.sandbox.read(path)
    except Refused:
        return None


def split_lines(text: str) -> list[str]:
    """Return the lines of a text. The newline at its end begins no other line."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def lines_of(content: bytes, path: str) -> list[str]:
    """Return the lines of a file. Raises ToolError, as `decode` does."""
    return split_lines(decode(content, path))


def decode(content: bytes, path: str) -> str:
    """Return the text of a file in the encoding that it declares, else in the one that fits, without a byte-order mark.

    Raises ToolError for a binary file.
    """
    if b"\0" in content:
        raise ToolError(f"{path} is a binary file of {len(content):,} bytes, and not text")
    return content.decode(find_encoding(content, path)).removeprefix("\ufeff")
