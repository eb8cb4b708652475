"""The tool that searches the files."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.state import ShownState
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.shown import clipped, fitting_lines, limit

LONGEST_LINE = 240
"""How many characters of a line are shown."""


class GrepArguments(Arguments):
    """What to search for, and where."""

    pattern: str = Field(description="Regular expression (Python's syntax), matched within a line.")
    path: str = Field(".", description="File or directory, relative to the workspace.")
    glob: str = Field("", description="Only files whose path or name matches, for instance `*.py`.")
    ignore_case: bool = Field(False, description="Ignore case.")
    limit: int = limit()


class Grep:
    """Finds lines by a regular expression."""

    name = "grep"
    version = "1"
    description = "Search the files for a regular expression; shows each file's path and, below it, line: text."
    arguments = GrepArguments

    def __call__(self, bench: Bench, arguments: GrepArguments) -> Observation:
        """Return the matching lines, at most 100."""
        found = bench.sandbox.search(
            arguments.pattern, arguments.path, arguments.glob, ignore_case=arguments.ignore_case
        )
        every = []
        for position, (path, number, line) in enumerate(found["matches"]):
            heading = "" if position and path == found["matches"][position - 1][0] else f"{path}\n"
            every.append(f"{heading}{number}: {clipped(line, LONGEST_LINE)}")
        lines = fitting_lines(every, arguments.limit)
        more = found["more"] + len(every) - len(lines)
        if more:
            lines.append(f"... and {more} more matches: use a narrower pattern or path")
        return Observation("\n".join(lines) or "No line matches.", state=ShownState(kind="shown", path=arguments.path))
