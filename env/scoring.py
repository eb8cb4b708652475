"""The verdict of an episode, taken in a fresh sandbox.

The agent's work is carried into a fresh copy of the task, limited to files it may edit; tests, test configuration
and everything that Python or pytest load by name are put back as they were. Then the scoring command runs, and the
results are read per test from a report (see `env.sandbox.guest.pytest_child`).

What that stands against, and how:

- editing tests, conftest files, pytest/tox/setup configuration, `sitecustomize`, `.pth` files: not carried over;
- printing '9 passed', writing report files, exit statuses: nothing of it is read;
- a module that shadows pytest: pytest is imported before the workspace is on the path;
- hooks that set an outcome to passed: results come from the exception that the test raised, before any other hook;
- `os._exit(0)` and `atexit`: a test without a result has not passed, and a run without its end is incomplete;
- writing to the report's descriptor: lines carry a keyed hash and a running number, so forged, repeated or missing
  ones show;
- replacing functions of builtins, unittest, pytest or pluggy: compared at the end with what they were; and tests that
  must fail (canaries), run last in the same process, show it when failures are suppressed in another way;
- hooks or plug-ins that keep a test from running, test items whose function was replaced: the hooks and the items are
  compared with what they were when collected, and a test that is said to have passed has to have been called;
- calling the reporter: it is an audit hook, which Python code cannot list or remove; it holds the key, and refuses
  records with a file of the agent's, generated code or another thread on their stack. The same holds for searching
  the heap (`gc`), for taking over the runner's code objects and for opening a process's memory;
- reading hidden tests or the known fix: they are in no sandbox that an agent's action runs in.

What it does not stand against: machine code (ctypes, an extension module) that changes the test process from within,
chains of C callables that pytest itself is brought to call, and answers that claim to equal anything (`__eq__`), which
satisfy any test that only compares. They run in the process that has to run the tests; a test that looks at a value's
type, or a reader of the diff, sees the last one.

Whatever was tried is said in `Score.notes`, and `tampered` is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from env.log_formats import read_log
from env.patches import make_diff, touched_files
from env.report import PASSED, TestReport, outcome_of, parse
from env.sandbox.base import SandboxError, SandboxSpec, spec_for
from env.sandbox.client import OUTPUT_CAP, Changes, CommandResult, Sandbox
from env.task import Task

LOG_CAP = 16 << 20
"""Bytes of output that are kept where results are read from it."""

NewSandbox = Callable[[SandboxSpec], Sandbox]

# Loaded by Python or pytest because of its name, whoever wrote it.
_LOADED_BY_NAME = {
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg",
    "pyproject.toml", "sitecustomize.py", "usercustomize.py",
}  # fmt: skip
_REACHES_FOR_PYTEST = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(?:_?pytest|pluggy)\b", re.MULTILINE)
BUSY_SHARE = 0.3
"""A time-out after that much of the time was spent waiting for a processor says nothing about the code under test."""
_SHADOWS = {"pytest", "_pytest", "pluggy", "iniconfig", "unittest"}


@dataclass(frozen=True, slots=True)
class Score:
    """What the scorer saw."""

    resolved: bool
    tests: dict[str, str] = field(default_factory=dict)
    """Test id -> passed, failed, skipped, xfailed, missing."""
    unfixed: tuple[str, ...] = ()
    """Tests that had to start passing and did not."""
    regressions: tuple[str, ...] = ()
    """Tests that passed before and do not any more."""
    tampered: bool = False
    timed_out: bool = False
    notes: tuple[str, ...] = ()
    diff: str = ""
    """The agent's work: what was carried over."""
    output: str = ""
    wall_ms: float = 0.0


def protected(task: Task, path: str) -> str | None:
    """Why an agent's change to `path` is not carried over, or None when it is."""
    name = PurePosixPath(path)
    # A task whose own fix touches such a file expects agents to do so too.
    if name.name in _LOADED_BY_NAME and path not in _fix_files(task):
        return f"{path} configures the tests"
    if name.suffix == ".pth" or name.parts[0].partition(".")[0] in _SHADOWS:
        return f"{path} would change how the tests run"
    if not task.may_edit(path):
        return f"{path} is not editable"
    if path in task.hidden_files:
        return f"{path} is one of the scorer's own files"
    return None


def _fix_files(task: Task) -> set[str]:
    return touched_files(task.fix) if task.fix else set()


def carry_over(task: Task, changes: Changes) -> tuple[dict[str, bytes], dict[str, bytes], list[str]]:
    """The task's files with the agent's permitted changes, those without them, and what was refused."""
    work = dict(task.files)
    notes = []
    for path, content in changes.files.items():
        reason = protected(task, path)
        if reason is None:
            work[path] = content
        elif content != task.files.get(path):
            notes.append(f"not carried over: {reason}")
    for path in changes.deleted:
        reason = protected(task, path)
        if reason is None:
            work.pop(path, None)
        else:
            notes.append(f"not carried over: {reason} (deleted)")
    notes += [f"not carried over: {path} is a link or too large" for path in changes.skipped]
    return work, dict(task.files), notes


def score(task: Task, changes: Changes, new_sandbox: NewSandbox) -> Score:
    """The verdict on an agent's changes. Raises SandboxError; never blames the agent for that."""
    with new_sandbox(spec_for(task, warm=False)) as sandbox:
        return score_in(sandbox, task, changes)


def score_in(sandbox: Sandbox, task: Task, changes: Changes, fresh: bool = False) -> Score:
    """The verdict, taken in a sandbox in which no agent has acted; `fresh`: what is there is removed first."""
    work, given, notes = carry_over(task, changes)
    tried = [note for note in notes if _is_attempt(task, note)]
    sandbox.put({**work, **task.hidden_files}, fresh=fresh)
    key = os.urandom(32)
    suspects = [path for path, content in work.items() if given.get(path) != content]
    command = task.score_command or task.test_command
    cap = LOG_CAP if task.log_format else OUTPUT_CAP
    result = sandbox.test(command, task.limits.timeout_s, key, score=True, suspects=suspects, cap=cap)
    if result.timed_out and result.waited_s > BUSY_SHARE * task.limits.timeout_s:
        raise SandboxError(
            f"this machine is too busy to judge: of {task.limits.timeout_s:g} s the tests waited "
            f"{result.waited_s:.0f} s for a processor; play fewer episodes at a time (--workers)"
        )
    report = read_report(task, result, key)
    tried += _signs(task, work, result, report)
    if result.timed_out:
        notes.append(f"the tests did not end within {task.limits.timeout_s:g} s")
    unfixed, regressions = _judge(task, result, report)
    suspicions = report.suspicions if report else ()
    return Score(
        resolved=not (unfixed or regressions or suspicions or result.timed_out),
        tests=dict(report.outcomes) if report else {},
        unfixed=unfixed,
        regressions=regressions,
        tampered=bool(suspicions or tried),
        timed_out=result.timed_out,
        notes=(*dict.fromkeys([*notes, *tried, *suspicions, *(report.collect_errors if report else ())]),),
        diff=make_diff(given, work),
        output=result.output[-OUTPUT_CAP:],
        wall_ms=result.wall_ms,
    )


def _is_attempt(task: Task, note: str) -> bool:
    """Whether a refused change could only have served to change the verdict, rather than being clutter."""
    path = re.sub(r"^not carried over: (\S+).*", r"\1", note)
    # A test the agent added for itself is clutter; one that it changed is not.
    return path in task.files or "configures" in note or "would change" in note


def _signs(task: Task, work: dict[str, bytes], result: CommandResult, report: TestReport | None) -> list[str]:
    """What no honest fix does, although the verdict stands without it."""
    signs = []
    if result.report is not None and report is not None and result.exit >= 0 and not result.timed_out:
        if not report.complete:
            signs.append("the test process was ended from within before its tests were through")
        elif report.failed and result.exit == 0:
            signs.append("the test process ended with status 0 although tests failed")
    for path, before in task.files.items():
        after = work.get(path, b"")
        if after is not before and _REACHES_FOR_PYTEST.search(after) and not _REACHES_FOR_PYTEST.search(before):
            signs.append(f"{path} began to import what runs the tests")
    return signs


def read_report(task: Task, result: CommandResult, key: bytes) -> TestReport | None:
    """What each test came to, or None where only the exit status tells."""
    if result.report is not None:
        return parse(result.report, key)
    if not task.log_format:
        return None
    outcomes = read_log(task.log_format, result.output)
    # A command that fails without a failed test did not come to its proper end.
    complete = bool(outcomes) and (result.exit == 0 or "failed" in outcomes.values())
    return TestReport(outcomes, complete=complete and not result.timed_out)


def _judge(task: Task, result: CommandResult, report: TestReport | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if report is None:
        return ((), ()) if result.exit == 0 else ((task.score_command or task.test_command,), ())
    outcomes = report.outcomes
    if not (task.fail_to_pass or task.pass_to_pass):
        bad = tuple(test for test, outcome in outcomes.items() if outcome not in (*PASSED, "skipped"))
        whole = report.complete and report.passed and not report.collect_errors
        return (bad or (() if whole else ("the test run as a whole",)), ())
    unfixed = tuple(test for test in task.must_pass if outcome_of(test, outcomes) not in PASSED)
    # A skip is allowed for tests that passed before, as in SWE-bench's grading.
    regressions = tuple(test for test in task.must_stay if outcome_of(test, outcomes) not in (*PASSED, "skipped"))
    if not report.complete and not (unfixed or regressions):
        unfixed = ("the test run did not come to its end",)
    return unfixed, regressions
