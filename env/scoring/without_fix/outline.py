"""What is known about the tests of a task without a known fix, from a run of the program as given."""

from __future__ import annotations

import ast

from stackrank.env.benchmarks.testfiles import is_test
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.contradictions import Def, test_functions
from stackrank.env.scoring.judge import Run, cases_of
from stackrank.env.scoring.proof import Proof
from stackrank.env.scoring.report import PASSED
from stackrank.env.task import Task

NO_FIX = message("no fix is known to compare its answers with")


def outline(task: Task, run: Run) -> Proof:
    """Return a proof without contradictions that lists the tests. `run`: the tests with the program as given.

    Where that program keeps tests from running, they are listed as their file says.
    """
    if run.report is None:
        return Proof(task.digest, deciding=1, reason=NO_FIX)
    cases, excused = cases_of(run.outcomes), {}
    for path in _not_collected(task, run):
        for name, function in test_functions(path, {**task.files, **task.hidden_files}[path]).items():
            cases.setdefault(name, 1)
            for outcome in _expected(function):
                excused[name] = outcome
    excused |= {test: outcome for test, outcome in run.outcomes.items() if outcome in _MARKS}
    failing = tuple(test for test, outcome in run.outcomes.items() if outcome not in PASSED and test not in excused)
    return Proof(task.digest, (), excused, len(cases), reason=NO_FIX, cases=cases, failing=failing)


_MARKS = {"skipped": "skip", "xfailed": "xfail"}
"""Outcome -> what the decorators of such a test have in their text."""


def _not_collected(task: Task, run: Run) -> list[str]:
    """Return the test files with an error that kept their tests from being found."""
    assert run.report is not None
    paths = [path for path in (*task.files, *task.hidden_files) if is_test(path)]
    return [path for path in paths if any(error.startswith(f"{path}:") for error in run.report.collect_errors)]


def _expected(function: Def) -> list[str]:
    text = " ".join(map(ast.unparse, function.decorator_list))
    return [outcome for outcome, mark in _MARKS.items() if mark in text]
