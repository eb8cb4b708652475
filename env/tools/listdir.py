"""The tool that lists a directory."""

from __future__ import annotations

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.state import ShownState
from stackrank.env.task import Task
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.shown import fit_lines, limit

MOST_ENTRIES = 500


class ListdirArguments(Arguments):
    """What to list."""

    path: str = Field(".", description="Directory, relative to the workspace.")
    depth: int = Field(2, ge=1, le=20, description="How many levels to show.")
    limit: int = limit()


class Listdir:
    """Lists files and directories."""

    name = "listdir"
    version = "1"
    description = "List the files below a directory; read-only ones are marked."
    arguments = ListdirArguments

    def __call__(self, bench: Bench, arguments: ListdirArguments) -> Observation:
        """Return the paths in a fixed order."""
        return list_folder(bench, arguments.path, arguments.depth, arguments.limit)


def mark_readonly(task: Task, path: str) -> str:
    """Return a file's path, marked if the file is read-only."""
    return path + ("" if task.may_edit(path) else "  (read-only)")


def list_folder(bench: Bench, path: str, depth: int, max_chars: int) -> Observation:
    """List the entries below a folder in at most `most` characters. Raises Refused."""
    listing = bench.sandbox.listing(path, depth, MOST_ENTRIES)
    lines = []
    for name, size, target in listing.entries:
        slash = "/" if size is None else ""
        path_text = f"{name}{slash}" if size is None else mark_readonly(bench.task, name)
        lines.append(f"{path_text} -> {target}{slash}" if target else path_text)
    visible = fit_lines(lines, max_chars)
    omitted = listing.more + len(lines) - len(visible)
    lines = [*visible, f"... and {omitted} more: list a sub-directory"] if omitted else visible
    return Observation("\n".join(lines) or f"{path} is empty.", state=ShownState(kind="shown", path=path))
