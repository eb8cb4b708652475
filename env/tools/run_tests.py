"""The tool that runs the task's tests. It is called `eval`, as in debug-gym."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import cast

from pydantic import Field

from stackrank.env.actions import Observation
from stackrank.env.sandbox.client import CommandResult, Sandbox
from stackrank.env.scoring.judge import read_report
from stackrank.env.scoring.report import PASSED, TestReport, outcome_of
from stackrank.env.state import TestsState
from stackrank.env.task import Task
from stackrank.env.tools.base import Arguments, Bench
from stackrank.env.tools.bash import describe_exit
from stackrank.env.tools.chosen_tests import command_for, parse_test_ids
from stackrank.env.tools.shown import fold_repeats, limit, strip_padding


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
        chosen = parse_test_ids(arguments.test, bench.outcomes)
        is_default = not chosen and not arguments.verbose
        command = bench.task.test_command if is_default else command_for(bench.task, chosen, arguments.verbose)
        observation = run_visible_tests(bench.sandbox, bench.task, command)
        state = cast(TestsState, dict(observation.state))
        if chosen:
            state["solved"] = False
            if "tests" in state:
                # The other tests keep their outcomes from the last run.
                ids = {**bench.outcomes, **state["tests"]["ids"]}
                failed = sum(outcome == "failed" for outcome in ids.values())
                passed = sum(outcome in PASSED for outcome in ids.values())
                state["tests"] = {"passed": passed, "failed": failed, "ids": ids}
        return Observation(fold_repeats(strip_padding(observation.text)), state=state)


def run_visible_tests(sandbox: Sandbox, task: Task, command: str = "") -> Observation:
    """Run the test command, or `command`, and return its output; `state["solved"]` says whether it showed no bug."""
    key = os.urandom(32)
    command = command or task.test_command
    result = sandbox.test(command, task.limits.timeout_s, key, score=False)
    report = read_report(task, result, key)
    solved = _solved(task, result, report.outcomes if report is not None else {})
    state = TestsState(kind="tests", exit=result.exit, timed_out=result.timed_out, solved=solved)
    if report is not None:
        state["tests"] = {"passed": report.passed, "failed": report.failed, "ids": dict(report.outcomes)}
        if report.messages:
            state["messages"] = dict(report.messages)
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
    elif report is not None and not report.complete and not result.timed_out:
        parts.append(f"[the test process ended itself with status {result.exit} before all tests had run]")
    elif result.exit and not result.timed_out:
        parts.append(f"[exit status {result.exit}]")
    return "\n".join(parts)
