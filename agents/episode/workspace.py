"""The description of the workspace that an agent gets before its first step, so that it need not search for files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from stackrank.env.actions import Observation
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.state import State, outcomes_of
from stackrank.env.task import Task
from stackrank.env.tools.listdir import mark_readonly
from stackrank.env.tools.shown import number_lines
from stackrank.patches.contents import decode_text
from stackrank.wording import count_of

_MOST_FILES = 60
_MOST_CHARS = 3000
"""Most characters of a listing in which each folder is a line."""
_MOST_READ_ONLY = 4
"""More read-only files than this in one folder become one line, because nothing in them is to be fixed."""
_MOST_CODE = 2400
"""Most characters of the failing tests' file; a longer file is not shown."""


def list_files(task: Task) -> tuple[str, ...]:
    """List the files, those that may be edited first.

    If there are too many, each folder becomes a line with the names in it, and the deepest folders only a count.
    """
    groups: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for path in sorted(task.files):
        folder, slash, _ = path.rpartition("/")
        groups[not task.may_edit(path), folder + slash].append(path)
    lines_by_group = {key: [mark_readonly(task, path) for path in paths] for key, paths in sorted(groups.items())}
    for (read_only, folder), paths in lines_by_group.items():
        if read_only and folder and len(paths) > _MOST_READ_ONLY:
            lines_by_group[read_only, folder] = [_counted(read_only, folder, len(paths))]
    if sum(map(len, lines_by_group.values())) > _MOST_FILES:
        large_groups = {key: paths for key, paths in groups.items() if key[1] and len(lines_by_group[key]) > 1}
        for (read_only, folder), paths in large_groups.items():
            names = " ".join(path.removeprefix(folder) for path in paths)
            lines_by_group[read_only, folder] = [f"{folder}  {names}{'  (read-only)' if read_only else ''}"]
        # Deep folders with many files are counted first, because readers need their names least.
        for read_only, folder in sorted(large_groups, key=lambda key: (-key[1].count("/"), -len(groups[key]))):
            if sum(len(line) for group in lines_by_group.values() for line in group) > _MOST_CHARS:
                lines_by_group[read_only, folder] = [_counted(read_only, folder, len(groups[read_only, folder]))]
    lines = [line for group in lines_by_group.values() for line in group]
    overflow = [f"... and {len(lines) - _MOST_FILES} more"] if len(lines) > _MOST_FILES else []
    return (*lines[:_MOST_FILES], *overflow)


def _counted(read_only: bool, folder: str, number: int) -> str:
    return f"{folder}  ({count_of(number, 'file')}{', read-only' if read_only else ''})"


def find_failing_file(task: Task, first: State) -> str:
    """Return the file of the tests that fail at the reset, below its path. Empty: there are several, or it is long.

    A report of pytest shows the failing tests, but not the helpers and the data that they use.
    """
    files = {path_of(test) for test, outcome in outcomes_of(first).items() if outcome == "failed"}
    path = min(files, default="")
    code = (decode_text(task.files.get(path, b""), path) or "").removeprefix("\ufeff").rstrip()
    if len(files) != 1 or not code or len(code) > _MOST_CODE:
        return ""
    return "\n".join([f"{path}:", *number_lines(code.split("\n"))])


def shows_failure(first: State) -> bool:
    """Whether the reset shows visible tests that fail."""
    return bool(first) and first["kind"] == "tests" and not first["solved"]


def append_workspace(task: Task, first: Observation) -> Observation:
    """Append the listing and the failing file to the first observation, for callers without a prompt of their own."""
    files = "\n".join(("Files in the workspace:", *list_files(task)))
    file_text = find_failing_file(task, first.state)
    parts = [first.text, files, f"Contents of {file_text}" if file_text else ""]
    return replace(first, text="\n\n".join(part for part in parts if part))
