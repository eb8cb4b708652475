"""Listing a directory."""

from __future__ import annotations

from pydantic import Field

from env.actions import Observation
from env.tools.base import Arguments, Bench


class ListdirArguments(Arguments):
    """What to list."""

    path: str = Field(".", description="Directory, relative to the workspace.")
    depth: int = Field(2, ge=1, le=20, description="How many levels to show.")


class Listdir:
    """Lists files and directories."""

    name = "listdir"
    description = "List the files below a directory; read-only ones are marked."
    arguments = ListdirArguments

    def __call__(self, bench: Bench, arguments: ListdirArguments) -> Observation:
        """An indented tree in a fixed order."""
        found = bench.sandbox.listing(arguments.path, arguments.depth)
        lines = []
        for path, size in found["entries"]:
            if size is None:
                lines.append(f"{path}/")
            else:
                lines.append(path + ("" if bench.task.may_edit(path) else "  (read-only)"))
        if found["more"]:
            lines.append(f"... and {found['more']} more: list a sub-directory")
        return Observation("\n".join(lines) or f"{arguments.path} is empty.", state={"path": arguments.path})
