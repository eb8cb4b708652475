"""Editing a file."""

from __future__ import annotations

from pydantic import Field, model_validator

from env.actions import Observation
from env.tools.base import Arguments, Bench, ToolError
from env.tools.view import decode

MAX_BYTES = 2 << 20


class RewriteArguments(Arguments):
    """What to replace by what."""

    body = "new_code"

    path: str = Field(description="File, relative to the workspace. It is created if it does not exist.")
    new_code: str = Field(description="The new text, with its indentation. Empty: delete the lines.")
    start: int | None = Field(
        None, ge=1, description="First line to replace (1-based). Default: replace the whole file."
    )
    end: int | None = Field(
        None,
        ge=0,
        description="Last line to replace, inclusive. Default: the same as start. start - 1: insert before start.",
    )

    @model_validator(mode="after")
    def _end_needs_start(self) -> RewriteArguments:
        if self.end is not None and self.start is None:
            raise ValueError("end needs start")
        return self


class Rewrite:
    """Replaces lines of a file, or all of it."""

    name = "rewrite"
    description = (
        "Replace lines start to end of a file by new code; without line numbers, the whole file. "
        "Shows the changed place, and the syntax error if the file no longer parses."
    )
    arguments = RewriteArguments

    def __call__(self, bench: Bench, arguments: RewriteArguments) -> Observation:
        """Done exactly, or refused with nothing changed."""
        path = arguments.path
        plain = bench.sandbox.resolve(path)
        if not bench.task.may_edit(plain):
            raise ToolError(f"{path} is read-only: mend the program, not what tests it")
        if len(arguments.new_code) > MAX_BYTES:
            raise ToolError(
                f"the new text has {len(arguments.new_code)} characters; at most {MAX_BYTES} can be written"
            )
        done = bench.sandbox.edit(path, arguments.new_code, arguments.start, arguments.end)
        state = {"edited": plain, "lines": done["touched"]}
        if done["syntax_error"]:
            state["syntax_error"] = done["syntax_error"]
        if not done["changed"]:
            return Observation(f"{path} already reads like that; nothing changed.", state=state)
        verb = "Created" if done["created"] else "Rewrote"
        head = f"{verb} {path}: {done['replaced']} lines replaced by {done['added']}."
        if done["syntax_error"]:
            head += f"\nThe file does not parse: {done['syntax_error']}"
        if arguments.start is None:
            return Observation(head, state=state)
        return Observation(f"{head}\n{_around(bench, path, done['first'], done['added'])}", state=state)


def _around(bench: Bench, path: str, first: int, added: int, margin: int = 3) -> str:
    lines = decode(bench.sandbox.read(path)).split("\n")
    start = max(first - margin, 1)
    stop = min(first + min(added, 60) - 1 + margin, len(lines))
    return "\n".join(f"{number:>5}  {lines[number - 1].rstrip(chr(13))[:300]}" for number in range(start, stop + 1))
