"""Makes sure that a problem is one before anybody plays it: of the program, and in the form in which it is judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import commit_time
from stackrank.env.benchmarks.repo import load_task
from stackrank.env.benchmarks.repo_schema import read_tasks
from stackrank.env.localisation.needs import inspect_surroundings
from stackrank.env.localisation.spectrum import Unmeasured
from stackrank.env.sandbox.base import Backend, Say, spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.report import PASSED, outcome_of
from stackrank.env.scoring.verdict import score_in
from stackrank.env.task import Task
from stackrank.extensions.fix.finding.problems import Problem, is_file, with_tests, write_problems
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import Suite
from stackrank.host.scratch import scratch
from stackrank.host.underway import underway
from stackrank.wording import count_of

TIMES = 2
"""How often a problem is judged as given."""


def set_aside_surroundings(project: Project, backend: Backend, suite: Suite, say: Say) -> Suite:
    """Return the suite without failing tests whose surroundings are at fault, and without tests whose ids change.

    Raises SandboxError.
    """
    if not suite.failing:
        return suite
    tests_depend = count_of(len(suite.failing), "failing test depends", "failing tests depend")
    activity = f"{project.name}: finding out whether {tests_depend} on what a sandbox lacks"
    command = project.command.on(project.targets_of(suite.failing))
    written_at = commit_time(project.repository, project.commit)
    try:
        with underway(activity, say), Sandbox(backend, project.spec) as sandbox:
            found = inspect_surroundings(
                sandbox, project.files, command, suite.failing, project.timeout_s, written_at=written_at
            )
    except Unmeasured as error:
        say(f"{project.name}: what its tests need could not be found out ({error})")
        return suite
    lacking = {**suite.lacking, **found.unstable, **found.lacking}
    failing = {test: reason for test, reason in suite.failing.items() if test not in lacking}
    return replace(suite, failing=failing, passing=suite.passing - {*lacking}, lacking=lacking)


def reproduce(project: Project, backend: Backend, problems: Sequence[Problem]) -> tuple[list[Problem], dict[str, str]]:
    """Judge every problem as given, each time in a fresh sandbox and by the command that judges a fix.

    Returns the problems that fail so, without tests that do not; and the tests set aside: test -> why.
    Raises SandboxError; BenchmarkError if a problem cannot be read as a task.
    """
    reproduced: list[Problem] = []
    reasons: dict[str, str] = {}
    for problem in problems:
        started = time.monotonic()
        scores = _judge(task_of(project, problem), backend)
        seconds = (time.monotonic() - started) / TIMES
        stable, why = _failing(problem, scores)
        reasons |= why
        if not stable:
            continue
        unsteady = {test for test in problem.suite.passing if any(_is_bad(test, score) for score in scores)}
        suite = replace(problem.suite, passing=problem.suite.passing - unsteady)
        suite = replace(suite, flaky=tuple(sorted({*suite.flaky, *unsteady})))
        reproduced.append(replace(with_tests(problem, stable, suite), seconds=seconds))
    return reproduced, reasons


def _failing(problem: Problem, scores: Sequence[Score]) -> tuple[list[str], dict[str, str]]:
    """Return the tests of a problem that fail each time, and why the others do not count."""
    if is_file(problem.tests[0]):
        if not any(score.resolved for score in scores):
            return list(problem.tests), {}
        return [], dict.fromkeys(problem.tests, "it can be imported when only its own tests run, as they are judged")
    stable, reasons = [], {}
    for test in problem.tests:
        passed = sum(outcome_of(test, score.tests) in PASSED for score in scores)
        if passed == len(scores):
            reasons[test] = (
                "it passes when the tests of its file run without the others, as they are judged: it depends on the "
                "tests that run before"
            )
        elif passed:
            reasons[test] = "it fails only sometimes"
        else:
            stable.append(test)
    return stable, reasons


def _is_bad(test: str, score: Score) -> bool:
    return test in score.tests and score.tests[test] not in PASSED and score.tests[test] != "skipped"


def task_of(project: Project, problem: Problem) -> Task:
    """Return the task as which a problem is judged. Raises BenchmarkError."""
    with scratch() as folder:
        file = write_problems(project, [problem], folder)
        content, excluded = read_tasks(file)
        if excluded:
            raise BenchmarkError(next(iter(excluded.values())))
        return load_task(content.tasks[0], content, file)


def _judge(task: Task, backend: Backend) -> list[Score]:
    with Sandbox(backend, spec_for(task, warm=False)) as sandbox:
        return [score_in(sandbox, task, Changes(), fresh=True) for _ in range(TIMES)]
