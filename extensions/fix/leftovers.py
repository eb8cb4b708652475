"""Takes out of a change what the fix does not need: files that an agent's own test runs left behind."""

from __future__ import annotations

from stackrank.env.patches import PatchError, apply_patch
from stackrank.env.sandbox.base import Backend, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.verdict import score_in
from stackrank.env.task import Task
from stackrank.extensions.fix.finding.judged import task_of
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import Project
from stackrank.patches.reading import Patch

MOST_TRIED = 8
"""How many files are tried one by one if the fix needs some of them."""


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
