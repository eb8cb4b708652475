"""The tool that rewrites a file or some of its lines."""

from __future__ import annotations

from pydantic import Field, model_validator

from stackrank.env.actions import Observation
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.editing.edit import edit_file, open_file


class RewriteArguments(Arguments):
    """What to replace, and the new text."""

    body = "new_code"

    path: str = Field(description="File, relative to the workspace. It is created if it does not exist.")
    new_code: str = Field(description="The new text, with its indentation. Empty: delete the lines.")
    start: int | None = Field(
        None, ge=1, description="First line to replace (1-based). Default: replace the whole file."
    )
    end: int | None = Field(
        None,
        ge=0,
        description="Last line to replace, inclusive. Default: the same as start. To insert before start, give "
        "start - 1.",
    )

    @model_validator(mode="after")
    def _end_needs_start(self) -> RewriteArguments:
        if self.end is not None and self.start is None:
            raise ValueError("end needs start")
        return self


class Rewrite:
    """Replaces lines of a file, or all of it."""

    name = "rewrite"
    version = "2"
    description = (
        "Replace lines start to end of a file with new code; without line numbers, the whole file. "
        "Shows the replaced and the new lines, and the syntax error if the file does not parse."
    )
    arguments = RewriteArguments

    def __call__(self, bench: Bench, arguments: RewriteArguments) -> Observation:
        """Edit the file exactly as asked, or refuse and change nothing."""
        file = open_file(bench, arguments.path)
        return edit_file(bench, file, arguments.new_code, arguments.start, arguments.end, shows_old=True)
