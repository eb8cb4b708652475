"""`stackrank init-task`: a task of the `repo` benchmark from a commit that fixed a bug."""

from __future__ import annotations

import tempfile
from pathlib import Path

from env.benchmarks.base import BenchmarkError
from env.benchmarks.from_commit import TASKS, Draft, Wishes, draft, save
from env.benchmarks.repo import load_task
from env.benchmarks.repo_schema import read_tasks
from env.patches import apply_patch
from env.report import TestReport
from env.sandbox.base import Backend, spec_for
from env.sandbox.client import Changes
from env.sandbox.pool import Pool
from env.sandbox.registry import backend, default_backend
from env.scoring import Score, score
from env.task import Task
from env.validate import validate
from flows.output import print_json, say


def init_task(repo: str, commit: str, out: Path, wishes: Wishes, sandbox: str | None, as_json: bool) -> None:
    """Write the task and prove it. Raises BenchmarkError with the reason where it cannot be made."""
    made = draft(repo, commit, wishes)
    place = backend(sandbox) if sandbox else default_backend()
    say(f"{made.entry.id}: {made.entry.test}")
    given, cured = _both_states(made, place)
    with tempfile.TemporaryDirectory(prefix="stackrank-") as name:  # nothing is left behind where it is not valid
        save(made, Path(name), given, cured)
        _prove(_load(Path(name), made), place)
    entry = save(made, out, given, cured)
    if as_json:
        print_json({"task": entry.id, "file": str(out / TASKS), **entry.model_dump(include={"fail_to_pass", "test"})})
        return
    print(f"{out / TASKS}: {entry.id}, {len(entry.fail_to_pass)} tests to pass, {len(entry.pass_to_pass)} to keep.")
    print(f"Play it: stackrank run --benchmark repo --path {out} --tasks {entry.id} --agent oracle")


def _load(folder: Path, made: Draft) -> Task:
    content, _ = read_tasks(folder / TASKS)
    return load_task(content.tasks[0], content, folder / TASKS)


def _both_states(made: Draft, place: Backend) -> tuple[TestReport, TestReport]:
    """The tests before and after the fix."""
    with tempfile.TemporaryDirectory(prefix="stackrank-") as name:
        save(made, Path(name))
        task = _load(Path(name), made)
    place.prepare(spec_for(task), say)
    fixed = apply_patch(task.files, task.fix)
    changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
    with Pool(place, size=0) as pool:
        say("running the tests before the fix")
        given = score(task, Changes(), pool.take)
        say("running the tests with the fix")
        deleted = tuple(path for path in task.files if path not in fixed)
        cured = score(task, Changes(files=changed, deleted=deleted), pool.take)
    if not cured.tests:
        raise BenchmarkError(f"the tests do not run with the fix: {_last_line(cured)}")
    return TestReport(given.tests), TestReport(cured.tests)


def _last_line(result: Score) -> str:
    lines = [line.strip() for line in (*result.notes, *result.output.splitlines()) if line.strip()]
    errors = [line for line in lines if "Error" in line]
    return (errors or lines or ["they print nothing"])[-1][:300]


def _prove(task: Task, place: Backend) -> None:
    say("proving that it fails as given and passes with its fix, 3 times")
    with Pool(place, size=0) as pool:
        result = validate(task, pool.take, 3)
    if not result.valid:
        raise BenchmarkError(f"the task would not be valid: {result.reason}")
