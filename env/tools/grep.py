"""The tool that searches the files."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.state import ShownState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.shown import clip, fit_lines, limit

LONGEST_LINE = 240
"""How many characters of a line are shown."""
MAX_MATCHES = 100
_LONGEST_PATTERN = 4000


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
    version = "2"
    description = (
        "Search the files for a regular expression. "
        f"Shows each file's path, and below it `line: text`; at most {MAX_MATCHES} lines."
    )
    arguments = GrepArguments

    def __call__(self, bench: Bench, arguments: GrepArguments) -> Observation:
        """Return the matching lines, at most MAX_MATCHES."""
        if len(arguments.pattern) > _LONGEST_PATTERN:
            raise ToolError(f"the pattern is longer than {_LONGEST_PATTERN:,} characters: search for a part of it")
        search = bench.sandbox.search(
            arguments.pattern, arguments.path, arguments.glob, MAX_MATCHES, ignore_case=arguments.ignore_case
        )
        matches = []
        for position, (path, number, line) in enumerate(search.matches):
            heading = "" if position and path == search.matches[position - 1].path else f"{path}\n"
            matches.append(f"{heading}{number}: {clip(line, LONGEST_LINE)}")
        lines = fit_lines(matches, arguments.limit)
        omitted = search.more + len(matches) - len(lines)
        if omitted:
            lines.append(f"... and {omitted} more matches: narrow the pattern or the path")
        return Observation("\n".join(lines) or "No matches.", state=ShownState(kind="shown", path=arguments.path))
