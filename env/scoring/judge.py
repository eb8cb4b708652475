"""One run of a task's tests, and what its outcomes mean."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stackrank.env.sandbox.base import MachineBusy, SandboxError
from stackrank.env.sandbox.client import CommandResult, Sandbox
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.sandbox.guest.testing.ids import function_of
from stackrank.env.scoring.bytecode import compiled
from stackrank.env.scoring.log_formats import read_log
from stackrank.env.scoring.processor_limit import ProcessorLimit, ended_by_limit
from stackrank.env.scoring.report import PASSED, TestReport, outcome_of, parse
from stackrank.env.task import Task

KEPT_CAP = 32 << 10
"""How many bytes of output are kept with a verdict."""
LOG_CAP = 16 << 20
"""How many bytes of output are kept if results are read from it."""
_PYTEST_ENDED = re.compile(r"\b\d+ passed\b.* in \d+\.\d+s")
BUSY_SHARE = 0.3
"""If more than this share of the time was spent waiting for a processor, a time-out says nothing about the code."""


UNREPORTED = message(
    "the command is not pytest, and no fix is known that shows what its exit status is worth; write a pytest command, "
    "add the fix, or set `status_decides`"
)


@dataclass(frozen=True, slots=True)
class FaultScore:
    """The verdict on one of several faults."""

    name: str
    mended: bool
    sealed: int = 0
    """How strongly it is sealed that the fault is mended, as in `Score`."""
    unsealed: str = ""
    """Why a mended fault is not sealed; empty if it is."""


@dataclass(frozen=True, slots=True)
class Score:
    """What the scorer found out about an agent's work."""

    resolved: bool
    tests: dict[str, str] = field(default_factory=dict)
    """Test id -> passed, failed, skipped, xfailed, missing, unseen (the verdict was settled before)."""
    unfixed: tuple[str, ...] = ()
    """Tests that had to start passing and did not."""
    regressions: tuple[str, ...] = ()
    """Tests that passed before and no longer do."""
    tampered: bool = False
    """Whether somebody tried to manipulate the verdict. Never true of a resolved score."""
    timed_out: bool = False
    notes: tuple[str, ...] = ()
    verified: bool = False
    """Whether a resolved verdict also rests on runs with changed expectations, which a forger passes too."""
    sealed: int = 0
    """How strongly the verdict is sealed, in bits: how many hidden expectations were contradicted. Guessing which
    ones succeeds once in two to the power of this. 0: not sealed. See `env.scoring.blind`."""
    unsealed: str = ""
    """Why a resolved verdict is not sealed; empty if it is."""
    suspicious: tuple[dict[str, Any], ...] = ()
    """Unusual machinery in the change (`env.suspicious`). For people to read; no verdict depends on it."""
    diff: str = ""
    """The agent's changes that were carried over."""
    output: str = ""
    wall_ms: float = 0.0
    messages: Mapping[str, str] = field(default_factory=dict)
    """Id of a test that failed in the last run -> the exception in one line."""
    faults: tuple[FaultScore, ...] = ()
    """The verdict on each fault of a task with several; empty if it has one, whose verdict is `resolved`."""

    @property
    def mended(self) -> tuple[int, int]:
        """How many faults are mended, and of how many. A task with one fault counts as one."""
        return (sum(fault.mended for fault in self.faults), len(self.faults)) if self.faults else (self.resolved, 1)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the tests."""

    result: CommandResult
    report: TestReport | None
    """None if only the exit status tells the outcome."""
    command: str
    shared: str
    """Why what earlier sandboxes left behind may have reached this run; empty if it could not."""

    @property
    def outcomes(self) -> Mapping[str, str]:
        """Test id -> outcome. If only the exit status tells, the command counts as the one test."""
        if self.report is not None:
            return self.report.outcomes
        return {self.command: "passed" if self.result.exit == 0 else "failed"}


def run_tests(
    sandbox: Sandbox,
    task: Task,
    files: Mapping[str, bytes],
    *,
    fresh: bool = False,
    suspects: list[str] | None = None,
    trusted: bool = False,
    excuse: bool = True,
) -> Run:
    """Run the scoring command on these files. Raises SandboxError; MachineBusy if the tests waited for a processor.

    `fresh`: the sandbox is cleared first. `suspects`: the files that the agent changed; given if the run is not blind,
    so that signs in the process are the only protection. `trusted`: the code is trusted, so the process may be forked
    from a prepared one, which is faster. `excuse`: False if waiting for a processor no longer excuses a time-out.
    """
    sandbox.put({**files, **compiled(files, task.files)}, fresh=fresh)
    key = os.urandom(32)
    command = task.score_command or task.test_command
    with ProcessorLimit(sandbox, task.limits) as limit:
        try:
            result = sandbox.test(
                command,
                task.limits.timeout_s,
                key,
                score=not trusted,
                suspects=suspects or (),
                cap=LOG_CAP if task.log_format else KEPT_CAP,
                canaries=suspects is not None,
                every=True,
            )
        except SandboxError:
            if not limit.exceeded:
                raise
            result = ended_by_limit(task.limits.timeout_s)
    waited = result.timed_out and result.waited_s > BUSY_SHARE * task.limits.timeout_s
    if excuse and waited and limit.used_s() < limit.most_s:
        raise MachineBusy(
            f"this machine is too busy to judge: of {task.limits.timeout_s:g} s the tests waited "
            f"{result.waited_s:.0f} s for a processor; play fewer episodes at a time (--workers)"
        )
    return Run(result, read_report(task, result, key), command, sandbox.shared)


def read_report(task: Task, result: CommandResult, key: bytes) -> TestReport | None:
    """Return the outcome of each test, or None if only the exit status tells."""
    if result.report is not None:
        return parse(result.report, key)
    if not task.log_format:
        return None
    outcomes = read_log(task.log_format, result.output)
    # A command that fails without a failed test did not come to its proper end.
    complete = bool(outcomes) and (result.exit == 0 or "failed" in outcomes.values())
    return TestReport(outcomes, complete=complete and not result.timed_out)


def cases_of(outcomes: Iterable[str]) -> dict[str, int]:
    """Count the tests of each test function."""
    return dict(Counter(function_of(test) for test in outcomes))


def shortcomings(
    task: Task,
    run: Run,
    outcomes: Mapping[str, str],
    excused: Mapping[str, str] | None,
    cases: Mapping[str, int] | None = None,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tests that had to start passing and did not, and those that had to go on passing and did not.

    `run`: the latest run. `outcomes`: the outcomes of all runs; `unseen` tests are not counted as failures. `excused`:
    the tests that do not pass with the known fix either, with their outcome; None if that is not known. `cases`: see
    `Proof`.
    """
    report = run.report
    if report is None:
        if not (task.fix or task.status_decides):
            return (message(f"nothing reports which tests ran: {UNREPORTED}"),), ()
        if not task.status_decides and _PYTEST_ENDED.search(run.result.output[-4000:]):
            return (
                message("pytest was not run directly, so its results could not be read: use `python -m pytest`"),
            ), ()
        return (tuple(command for command, outcome in outcomes.items() if outcome not in ("passed", "unseen")), ())

    def good(test: str, outcome: str, skips: bool) -> bool:
        if outcome in ("passed", "unseen"):
            return True
        if outcome not in ("skipped", "xfailed"):
            return False
        if excused is not None:
            return outcome_of(test, excused) == outcome
        return skips or outcome in PASSED

    if not (task.fail_to_pass or task.pass_to_pass):
        bad = tuple(test for test, outcome in outcomes.items() if not good(test, outcome, True))
        ran_now = cases_of(run.outcomes)
        bad += tuple(name for name, number in (cases or {}).items() if ran_now.get(name, 0) < number)
        ran = any(outcome != "skipped" for outcome in outcomes.values())
        finished = report.complete and ran and not report.collect_errors
        return (bad or (() if finished else (message("the test run as a whole"),)), ())
    unfixed = tuple(test for test in task.must_pass if not good(test, outcome_of(test, outcomes), False))
    # A skip is allowed for tests that passed before, as in SWE-bench's grading.
    regressions = tuple(test for test in task.must_stay if not good(test, outcome_of(test, outcomes), True))
    if not report.complete and not (unfixed or regressions):
        unfixed = (message("the test run did not finish"),)
    return unfixed, regressions


def signs(run: Run) -> list[str]:
    """Return signs that no honest program's test process shows. The verdict stands without them."""
    result, report = run.result, run.report
    if result.report is None or report is None or result.exit < 0 or result.timed_out:
        return []
    if not report.complete:
        return [message("the code under test ended the test process before its tests had finished")]
    if report.failed and result.exit == 0:
        return [message("the test process exited with status 0 although tests failed")]
    return []
