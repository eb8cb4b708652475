"""Make a task of the `repo` benchmark: draft it from a commit, test it before and after its fix, prove it, write it."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.guess_setup import build_guessed
from stackrank.env.benchmarks.python_project.remedies import find_remedy
from stackrank.env.benchmarks.repo import load_task
from stackrank.env.benchmarks.repo_schema import TASKS_FILE, TaskEntry, read_tasks
from stackrank.env.localisation.needs import inspect_surroundings
from stackrank.env.localisation.spectrum import Unmeasured
from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.base import Backend, Say, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.proof import save_proof
from stackrank.env.scoring.report import PASSED, TestReport
from stackrank.env.scoring.verdict import score_in
from stackrank.env.task import Task, limit_after
from stackrank.env.validate import validate
from stackrank.extensions.authoring.from_commit import Draft, TaskOptions, draft, save
from stackrank.host.scratch import scratch
from stackrank.host.underway import underway

_LEAST_S = 5
"""Tests that hang without the fix get at least this limit; it is longer if they take long with the fix."""


def make_task(repo: str, commit: str, out: Path, options: TaskOptions, backend: Backend, say: Say) -> TaskEntry:
    """Add a task to `out`/tasks.yaml, made from a commit that fixed a bug, and proved in sandboxes of `backend`.

    `say` gets a line for each step. Raises BenchmarkError with the reason if the task cannot be made; then nothing is
    written.
    """
    drafted = draft(repo, commit, options)
    say(f"{drafted.entry.id}: {drafted.entry.test}")
    if drafted.entry.setup and not options.setup:
        setup = "; ".join(drafted.entry.setup)
        say(f"{drafted.entry.id}: installed with `{setup}`, guessed from its files; --setup overrides it")
    for note in drafted.notes:
        say(f"{drafted.entry.id}: {note}")
    drafted, broken, fixed = _both_states(drafted, backend, say)
    broken, fixed = _without_unstable(drafted, broken, fixed, backend, say)
    with scratch() as folder:
        save(drafted, folder, broken, fixed)
        _prove(_load(folder, drafted), backend, say)
    if not (drafted.entry.hidden_tests or drafted.entry.toolchain):
        say("agents see its tests, so its verdicts cannot be sealed; use --hidden-tests to withhold them")
    return save(drafted, out, broken, fixed)


def _load(folder: Path, drafted: Draft) -> Task:
    content, _ = read_tasks(folder / TASKS_FILE)
    return load_task(content.tasks[0], content, folder / TASKS_FILE)


def _both_states(drafted: Draft, backend: Backend, say: Say) -> tuple[Draft, TestReport, TestReport]:
    """Run the tests before and after the fix. Where they hang without it, they get a time limit that suits them."""
    with scratch() as folder:
        save(drafted, folder)
        task = _load(folder, drafted)
    build_guessed(backend, spec_for(task), say)
    fixed = apply_patch(task.files, task.fix)
    changed = {path: content for path, content in fixed.items() if task.files.get(path) != content}
    deleted = tuple(path for path in task.files if path not in fixed)
    # Nobody forges the outcomes here, so one run of each is enough.
    with Sandbox(backend, spec_for(task, warm=False)) as sandbox:
        started = time.monotonic()
        with underway("running the tests with the fix", say):
            cured = score_in(sandbox, task, Changes(files=changed, deleted=deleted), fresh=True)
        if not any(outcome in PASSED for outcome in cured.tests.values()):
            event = "no test passes" if cured.tests else "the tests do not run"
            cause = next(iter(cured.messages.values()), "")[:200] or _last_line(cured)
            raise BenchmarkError(f"{event} with the fix ({cause}): {find_remedy(cause, task.files)}")
        limit_s = limit_after(time.monotonic() - started, _LEAST_S, task.limits.timeout_s)
        limited = replace(task, limits=replace(task.limits, timeout_s=limit_s))
        with underway("running the tests before the fix", say):
            broken = score_in(sandbox, limited, Changes(), fresh=True)
    if broken.timed_out:
        say(f"without the fix, the tests do not end within {limit_s:g} s, so this is their limit")
        drafted = replace(drafted, entry=drafted.entry.model_copy(update={"timeout_s": limit_s}))
    return drafted, TestReport(broken.tests, broken.messages), TestReport(cured.tests, cured.messages)


def _without_unstable(
    drafted: Draft, broken: TestReport, fixed: TestReport, backend: Backend, say: Say
) -> tuple[TestReport, TestReport]:
    """Return the reports without tests whose ids change, and without those that pass before the fix on another day or
    in other surroundings. Raises BenchmarkError if no failing test is left.
    """
    with scratch() as folder:
        save(drafted, folder)
        task = _load(folder, drafted)
    passing = (test for test, outcome in fixed.outcomes.items() if outcome in PASSED)
    failing = [test for test in passing if broken.outcomes.get(test) not in PASSED]
    command = task.score_command or task.test_command
    activity = "finding out whether its tests depend on the day, the folder or other surroundings"
    try:
        with underway(activity, say), Sandbox(backend, spec_for(task, warm=False)) as sandbox:
            files = {**task.files, **task.hidden_files}
            surroundings = inspect_surroundings(sandbox, files, command, failing, task.limits.timeout_s, asks=False)
    except Unmeasured:  # its tests are not run by pytest
        return broken, fixed
    # An id that changes is another one in each of these runs.
    changing = {function_of(test): reason for test, reason in surroundings.unstable.items()}
    reasons = {test: changing[name] for test in fixed.outcomes if (name := function_of(test)) in changing}
    reasons |= surroundings.lacking
    for test, reason in reasons.items():
        say(f"left out: {test}: {reason}")
    if failing and {*failing} <= {*reasons}:
        raise BenchmarkError(f"no test shows the bug reliably: {failing[0]}: {reasons[failing[0]]}")
    reports = (
        TestReport(
            {
                test: outcome
                for test, outcome in report.outcomes.items()
                if test not in reasons and function_of(test) not in changing
            },
            report.messages,
        )
        for report in (broken, fixed)
    )
    return next(reports), next(reports)


def _last_line(result: Score) -> str:
    lines = [line.strip() for line in (*result.notes, *result.output.splitlines()) if line.strip()]
    # pytest marks the lines of an exception, whose last one is what Python would print.
    errors = [line for line in lines if "Error" in line] or [line for line in lines if re.match(r"E\s", line)]
    return (errors or lines or ["they print nothing"])[-1][:300]


def _prove(task: Task, backend: Backend, say: Say) -> None:
    activity = "proving that it fails as given and passes with its fix, 3 times"
    with underway(activity, say), Pool(backend, size=0) as pool:
        result = validate(task, pool.take, 3, say=say)
    if not result.valid:
        raise BenchmarkError(f"the task is not valid: {result.reason}")
    if result.proof is not None:
        save_proof(task, result.proof)
