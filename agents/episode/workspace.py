"""What an agent is told about the workspace before its first step, so that it spends no steps on finding files."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from stackrank.env.actions import Observation
from stackrank.env.state import State, outcomes_of
from stackrank.env.task import Task
from stackrank.env.tools.listdir import mark_readonly
from stackrank.env.tools.view import decode

_MOST_FILES = 60
_MOST_CHARS = 3000
"""Most characters of a listing in which each folder is a line."""
_MOST_READ_ONLY = 4
"""More read-only files than this in one folder become one line, because nothing in them is to be fixed."""
_MOST_CODE = 2400
"""Most characters of the failing tests' file; a longer file is not shown."""


def listing(task: Task) -> tuple[str, ...]:
    """List the files, those that may be edited first.

    If there are too many, each folder becomes a line with the names in it, and the deepest folders only a count.
    """
    groups: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for path in sorted(task.files):
        folder, slash, _ = path.rpartition("/")
        groups[not task.may_edit(path), folder + slash].append(path)
    shown = {key: [mark_readonly(task, path) for path in paths] for key, paths in sorted(groups.items())}
    for (read_only, folder), paths in shown.items():
        if read_only and folder and len(paths) > _MOST_READ_ONLY:
            shown[read_only, folder] = [_counted(read_only, folder, len(paths))]
    if sum(map(len, shown.values())) > _MOST_FILES:
        named = {key: paths for key, paths in groups.items() if key[1] and len(shown[key]) > 1}
        for (read_only, folder), paths in named.items():
            names = " ".join(path.removeprefix(folder) for path in paths)
            shown[read_only, folder] = [f"{folder}  {names}{'  (read-only)' if read_only else ''}"]
        # Deep folders with many files are counted first, because readers need their names least.
        for read_only, folder in sorted(named, key=lambda key: (-key[1].count("/"), -len(groups[key]))):
            if sum(len(line) for group in shown.values() for line in group) > _MOST_CHARS:
                shown[read_only, folder] = [_counted(read_only, folder, len(groups[read_only, folder]))]
    lines = [line for group in shown.values() for line in group]
    more = [f"... and {len(lines) - _MOST_FILES} more"] if len(lines) > _MOST_FILES else []
    return (*lines[:_MOST_FILES], *more)


def _counted(read_only: bool, folder: str, number: int) -> str:
    return f"{folder}  ({number} files{', read-only' if read_only else ''})"


def failing_file(task: Task, first: State) -> str:
    """Return the file of the tests that fail at the reset, below its path. Empty: there are several, or it is long.

    A report of pytest shows the failing tests, but not the helpers and the data that they use.
    """
    files = {test.partition("::")[0] for test, outcome in outcomes_of(first).items() if outcome == "failed"}
    content = task.files.get(min(files, default=""), b"")
    code = decode(content).strip()
    return f"{min(files)}:\n{code}" if len(files) == 1 and code and len(code) <= _MOST_CODE else ""


def with_workspace(task: Task, first: Observation) -> Observation:
    """Append the listing and the failing file to the first observation, for callers without a prompt of their own."""
    files = "\n".join(("Files of the workspace:", *listing(task)))
    whole = failing_file(task, first.state)
    parts = [first.text, files, f"The whole of {whole}" if whole else ""]
    return replace(first, text="\n\n".join(part for part in parts if part))
