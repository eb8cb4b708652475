"""Finds out which tests judge each of several faults that share a workspace, by mending one fault at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stackrank.env.patches import apply_patch
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.judge import run_tests
from stackrank.env.scoring.report import PASSED
from stackrank.env.task import Task


@dataclass(frozen=True, slots=True)
class TestsOfFaults:
    """Which tests judge the faults of a task. A test that is in neither field judges nothing."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    shown: Mapping[str, tuple[str, ...]]
    """Fault -> the tests that fail as given, pass with all faults mended, and pass as soon as it alone is mended."""
    kept: tuple[str, ...]
    """The tests that pass as given, with any one fault mended, and with all."""


def find_tests_of_faults(task: Task, sandbox: Sandbox, rounds: int = 1) -> TestsOfFaults:
    """Run the scoring command as given, with each fault mended alone and with all mended, `rounds` times each.

    The fix of each part of the task mends its fault alone. A test that passes once several faults are mended, or
    whichever of two is, shows no single one and so judges none; nor does a test whose outcome varies. Raises
    SandboxError, PatchError.
    """
    given, fixed = _Passing(task, "", sandbox, rounds), _Passing(task, task.fix, sandbox, rounds)
    alone = {part.name: _Passing(task, part.task.fix, sandbox, rounds) for part in task.parts}
    shown = {
        name: fixed.always & passing.always - given.ever.union(*(alone[other].ever for other in alone if other != name))
        for name, passing in alone.items()
    }
    kept = given.always.intersection(fixed.always, *(passing.always for passing in alone.values()))
    return TestsOfFaults({name: tuple(sorted(tests)) for name, tests in shown.items()}, tuple(sorted(kept)))


def with_tests(task: Task, tests: TestsOfFaults) -> Task:
    """Return a task whose faults are judged by these tests. `task.parts` say how each fault is fixed."""
    task = replace(
        task,
        fail_to_pass=tuple(test for own in tests.shown.values() for test in own),
        pass_to_pass=tests.kept,
    )
    parts = (
        replace(part, task=replace(task, parts=(), fix=part.task.fix, fail_to_pass=tests.shown[part.name]))
        for part in task.parts
    )
    return replace(task, parts=tuple(parts))


class _Passing:
    """The tests that pass with a fix, in every round or in any."""

    def __init__(self, task: Task, fix: str, sandbox: Sandbox, rounds: int) -> None:
        files = {**(apply_patch(task.files, fix) if fix else task.files), **task.hidden_files}
        runs = [run_tests(sandbox, task, files, fresh=True, trusted=True).outcomes for _ in range(rounds)]
        passed = [{test for test, outcome in outcomes.items() if outcome in PASSED} for outcomes in runs]
        self.always, self.ever = set.intersection(*passed), set.union(*passed)
