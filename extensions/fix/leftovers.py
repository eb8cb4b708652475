"""Takes out of a change what the fix does not need: files that an agent's own test runs left behind, and edits."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from stackrank.env.patches import PatchError, apply_patch, make_diff, touched_files
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score_in
from stackrank.env.task import Task
from stackrank.extensions.fix.finding.judged import task_of
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import all_pass
from stackrank.patches.comparing import LineChange, find_changes
from stackrank.patches.contents import like, split_lines
from stackrank.patches.reading import Patch

MOST_TRIED = 8
"""How many files, or edits, are tried one by one if the fix needs some of them."""


def without_leftovers(project: Project, backend: Backend, problem: Problem, diff: str) -> str:
    """Return a change that resolves a problem without those of its files that are not needed for that.

    Only new files and files that are not Python are tried, because test runs write such files: caches, coverage data,
    reports, generated data. Raises SandboxError.
    """
    files = Patch.read(diff).files
    doubtful = [file for file in files if file.old is None or not file.path.endswith(".py")]
    if not doubtful:
        return diff
    task = task_of(project, problem)
    with Sandbox(backend, spec_for(task, warm=False)) as sandbox:
        needed = tuple(file for file in files if file not in doubtful)
        if needed and _resolves(sandbox, task, Patch(needed)):
            return Patch(needed).text
        for file in doubtful[:MOST_TRIED] if len(doubtful) > 1 or needed else ():
            fewer = tuple(other for other in files if other != file)
            if _resolves(sandbox, task, Patch(fewer)):
                files = fewer
    return Patch(files).text


class _Edit(NamedTuple):
    """Adjacent lines of a Python file that a change replaces."""

    path: str
    lines: LineChange


def without_idle_edits(project: Project, backend: Backend, problem: Problem, diff: str) -> str:
    """Return a change that resolves a problem without those of its edits that make no difference to any test.

    Only Python files that the change alters are looked at. Raises SandboxError.
    """
    task = task_of(project, problem)
    old = {path: task.files[path] for path in touched_files(diff) if path in task.files}
    new = apply_patch(old, diff)
    kept = _edits(old, new)
    if not 1 < len(kept) <= MOST_TRIED:
        return diff
    with Sandbox(backend, spec_for(task, warm=False)) as sandbox:
        for edit in kept:
            fewer = [other for other in kept if other != edit]
            smaller = {**new, **_with_edits(old, new, fewer)}
            changed = {path: smaller.get(path) for path in {*old, *smaller}}
            # Most edits are needed by the tests that judge the change. Only for the others the whole suite runs.
            if _resolves(sandbox, task, Patch.read(make_diff(old, smaller))) and all_pass(
                project, backend, changed, problem.suite.passing
            ):
                kept = fewer
    return make_diff(old, {**new, **_with_edits(old, new, kept)})


def _edits(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[_Edit]:
    """Return the edits that turn the Python files of one tree into those of another."""
    return [
        _Edit(path, change)
        for path in _altered(old, new)
        for change in find_changes(_lines(old[path]), _lines(new[path]))
    ]


def _altered(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> list[str]:
    return [path for path in sorted({*old} & {*new}) if path.endswith(".py") and old[path] != new[path]]


def _with_edits(old: Mapping[str, bytes], new: Mapping[str, bytes], kept: Collection[_Edit]) -> dict[str, bytes]:
    """Return the files with only these of their edits."""
    files: dict[str, bytes] = {}
    for path in _altered(old, new):
        lines, replacements = _lines(old[path]), _lines(new[path])
        for edit in reversed([edit for edit in kept if edit.path == path]):
            lines[edit.lines.old.start : edit.lines.old.stop] = replacements[edit.lines.new.start : edit.lines.new.stop]
        files[path] = like("".join(lines).encode("latin-1"), new[path])
    return files


def _lines(content: bytes) -> list[str]:
    """Return the lines of a file, a character for each byte."""
    return split_lines(content.decode("latin-1"))


def _resolves(sandbox: Sandbox, task: Task, patch: Patch) -> bool:
    if not patch.files:
        return False
    try:
        work = apply_patch(task.files, patch.text)
    except PatchError:
        return False
    files = {path: content for path, content in work.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in work)
    return score_in(sandbox, task, Changes(files=files, deleted=deleted), fresh=True).resolved
