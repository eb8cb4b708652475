"""Takes out of a change what the fix does not need: files that an agent's own test runs left behind."""

from __future__ import annotations

import re

from stackrank.diffs import HEADER, own_name
from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score_in
from stackrank.env.task import Task
from stackrank.extensions.fix.finding.judged import task_of
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import Project

MOST_TRIED = 8
"""How many files are tried one by one if the fix needs some of them."""


def without_leftovers(project: Project, backend: Backend, problem: Problem, diff: str) -> str:
    """Return a change that resolves a problem without those of its files that are not needed for that.

    Only new files and files that are not Python are tried, because test runs write such files: caches, coverage data,
    reports, generated data. Raises SandboxError.
    """
    parts = [part for part in re.split(r"(?m)^(?=diff --git )", diff) if part]
    doubtful = [part for part in parts if _may_be_left(part)]
    if not doubtful:
        return diff
    task = task_of(project, problem)
    with Sandbox(backend, spec_for(task, warm=False)) as sandbox:
        needed = [part for part in parts if part not in doubtful]
        if needed and _resolves(sandbox, task, "".join(needed)):
            return "".join(needed)
        for part in doubtful[:MOST_TRIED] if len(doubtful) > 1 or needed else ():
            fewer = [other for other in parts if other != part]
            if _resolves(sandbox, task, "".join(fewer)):
                parts = fewer
    return "".join(parts)


def _may_be_left(part: str) -> bool:
    match = re.match(HEADER, part)
    if match is None:
        return False
    return not own_name(match).endswith(".py") or re.match(HEADER + "new file mode ", part) is not None


def _resolves(sandbox: Sandbox, task: Task, diff: str) -> bool:
    if not diff.strip():
        return False
    try:
        work = apply_patch(task.files, diff)
    except PatchError:
        return False
    files = {path: content for path, content in work.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in work)
    return score_in(sandbox, task, Changes(files=files, deleted=deleted), fresh=True).resolved
