"""The tool that runs the task's tests. It is called `eval`, as in debug-gym."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Mapping
from typing import cast

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.benchmarks.testfiles import as_argument, shell_command
from stackrank.env.sandbox.client import CommandResult, Sandbox
from stackrank.env.sandbox.guest.core import files as guest_files
from stackrank.env.sandbox.guest.debugging.choice import choose
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.sandbox.replies.records import Failure
from stackrank.env.scoring.judge import read_report
from stackrank.env.scoring.report import PASSED, TestReport, outcome_of
from stackrank.env.state import TestsState
from stackrank.env.task import Task
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.env.tools.bash import describe_exit
from stackrank.env.tools.debugging.failure_state import failure_events, failure_text, read_failures
from stackrank.env.tools.shown import limit, tidy_output

_WITH_VALUE = re.compile(r"-[ckmnopW]|--[\w-]+")
"""pytest options whose value may be the next word."""
_BETWEEN = re.compile(r"[\s,]+(?=[^\s\[\],]*(?:::|\.py\b))")


class EvalArguments(Arguments):
    """Which tests to run, and how much output to show."""

    test: str = Field(
        "", description="Only these tests: ids such as `tests/test_x.py::test_y`, separated by spaces. Default: all."
    )
    verbose: bool = Field(False, description="Show long differences in full, and each test by name.")
    limit: int = limit()


class Eval:
    """Runs the visible tests."""

    name = "eval"
    version = "1"
    runs_program = True
    description = "Run the task's tests, or some of them, on the files as they are now and show the output."
    arguments = EvalArguments

    def __call__(self, bench: Bench, arguments: EvalArguments) -> Observation:
        """Return the tests' output and, in the state, each test's outcome."""
        test_ids = [
            test for word in parse_test_ids(arguments.test, bench.outcomes) for test in _find_tests(bench, word)
        ]
        is_default = not test_ids and not arguments.verbose
        command = bench.task.test_command if is_default else command_for(bench.task, test_ids, arguments.verbose)
        observation = run_visible_tests(bench.sandbox, bench.task, command, shows_state=bench.shows_failure_state)
        state = cast(TestsState, dict(observation.state))
        if test_ids:
            state["solved"] = False
            if "tests" in state:
                # The other tests keep their outcomes from the last run.
                ids = {**bench.outcomes, **state["tests"]["ids"]}
                failed = sum(outcome == "failed" for outcome in ids.values())
                passed = sum(outcome in PASSED for outcome in ids.values())
                state["tests"] = {"passed": passed, "failed": failed, "ids": ids}
        return Observation(tidy_output(observation.text), state=state)


def run_visible_tests(sandbox: Sandbox, task: Task, command: str = "", *, shows_state: bool = False) -> Observation:
    """Run the test command, or `command`, and return its output; `state["solved"]` says whether it showed no bug.

    `shows_state`: the state also says where the program stood when tests failed.
    """
    key = os.urandom(32)
    command = command or task.test_command
    failures: list[Failure] = []
    if shows_state:
        run = sandbox.eval(command, task.limits.timeout_s, key)
        result, failures = run.result, read_failures(run)
    else:
        result = sandbox.test(command, task.limits.timeout_s, key, score=False)
    report = read_report(task, result, key)
    solved = _solved(task, result, report.outcomes if report is not None else {})
    state = TestsState(kind="tests", exit=result.exit, timed_out=result.timed_out, solved=solved)
    if report is not None:
        state["tests"] = {"passed": report.passed, "failed": report.failed, "ids": dict(report.outcomes)}
        if report.messages:
            state["messages"] = dict(report.messages)
    if failures:
        state["debug_events"] = failure_events(failures)
    if text := failure_text(failures):
        state["failure_state"] = text
    return Observation(_text(task, command, result, report), state=state)


def _solved(task: Task, result: CommandResult, outcomes: Mapping[str, str]) -> bool:
    """Whether the visible tests no longer show the bug. The task's own lists decide, if all their tests have run."""
    if result.timed_out:
        return False
    target_outcomes = [outcome_of(test, outcomes) for test in task.must_pass]
    if target_outcomes and "missing" not in target_outcomes:
        regression_outcomes = {outcome_of(test, outcomes) for test in task.must_stay}
        return all(outcome in PASSED for outcome in target_outcomes) and regression_outcomes <= {
            *PASSED,
            "skipped",
            "missing",
        }
    return result.exit == 0


def _text(task: Task, command: str, result: CommandResult, report: TestReport | None) -> str:
    parts = [f"$ {command}"]
    if result.timed_out:
        parts.append(f"[the tests were still running after {task.limits.timeout_s:g} s and were interrupted]")
    parts.append(result.output.rstrip() or "[no output]")
    if result.exit < 0 and not result.timed_out:
        parts.append(f"[the test process was {describe_exit(result.exit, task)}]")
    elif report is not None and not (report.complete or result.timed_out or (task.log_format and not report.outcomes)):
        parts.append(f"[the test process ended itself with status {result.exit} before all tests had run]")
    elif result.exit and not result.timed_out:
        parts.append(f"[exit status {result.exit}]")
    return "\n".join(parts)


def parse_test_ids(text: str, ids: Collection[str]) -> list[str]:
    """Split what an agent wrote into test ids; parameters in brackets may contain spaces."""
    text = text.strip().strip("[]\"'") if text.strip().startswith("[") else text.strip()
    if text in ids:
        return [text]
    return [word.strip("\"'") for word in _BETWEEN.split(text) if word.strip("\"'")]


def _find_tests(bench: Bench, word: str) -> list[str]:
    """Return the ids of the tests that a word means as in the debugging tools, or the word if pytest understands it."""
    path = path_of(word)
    is_path = any(f"{file}/".startswith(f"{path.rstrip('/')}/") for file in bench.task.files)
    is_known = any(test == word or test.startswith((f"{word}::", f"{word}[")) for test in bench.outcomes)
    if is_known or (is_path and "::" not in word):
        return [word]
    try:
        chosen = choose(list(bench.outcomes), word)
    except guest_files.Refused:  # pytest says what is wrong with it
        return [word]
    return [test for test in bench.outcomes if test in chosen]


def command_for(task: Task, ids: Collection[str], verbose: bool) -> str:
    """Return the test command for the `chosen` ids of tests or files; if empty, for all tests. Raises ToolError."""
    run = pytest_run(task.test_command)
    if run is None:
        raise ToolError(f"the tests are run by `{task.test_command}`, which accepts neither test ids nor `verbose`")
    arguments = _without_paths(run.arguments, task, run.folder) if ids else list(run.arguments)
    # Not -vv: a -q in the task's own command would cancel one v, and pytest would cut differences again.
    verbosity = ["--verbosity=2"] if verbose else []
    return shell_command(run, [*arguments, *verbosity, *map(as_argument, ids)])


def _without_paths(arguments: list[str], task: Task, folder: str) -> list[str]:
    words: list[str] = []
    for argument in arguments:
        path = posixpath.normpath(posixpath.join(folder, path_of(argument)))
        is_path = path == "." or any(file == path or file.startswith(f"{path}/") for file in task.files)
        if argument.startswith("-") or not is_path or (words and _WITH_VALUE.fullmatch(words[-1])):
            words.append(argument)
    return words
