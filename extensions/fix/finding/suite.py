"""Runs a project's whole suite in sandboxes: which tests pass, which fail, and which are flaky."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import resolve_commit
from stackrank.env.benchmarks.python_project.remedies import find_remedy
from stackrank.env.benchmarks.testfiles import can_be_named
from stackrank.env.git import read_git
from stackrank.env.localisation.needs import has_address
from stackrank.env.sandbox.base import Backend, Say, silent
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.env.scoring.report import PASSED, TestReport, parse
from stackrank.extensions.fix.finding.lacking import Lacking
from stackrank.extensions.fix.finding.project import CONFTEST, Project, is_conftest, shorten
from stackrank.extensions.fix.finding.slow_tests import UnfinishedRun, find_slow, seconds_of
from stackrank.source import literal
from stackrank.wording import count_of, duration

_OUTSIDE = re.compile(
    r"Read-only file system|\[Errno 30\]|PermissionError: \[Errno 13\]"
    r"|\bgaierror\b|Name or service not known|Temporary failure in name resolution|Network is unreachable"
)
"""A test that fails with such a message wrote where a sandbox forbids writing, or used the network, which it lacks."""

_CONFTEST = re.compile(r"^ImportError while loading conftest '(.+)'", re.MULTILINE)
"""pytest prints this and runs no test, if it needs this conftest.py at once. The group is an absolute path."""

_NOTHING_COLLECTED = 5
"""The exit status of pytest if it finds no tests."""
_LONG_S = 60.0
_MOST_UNFINISHED = 6
"""After so many tests with which a suite does not end, no more are left out."""
_FEW_FILES = 5
"""A message names at most this many."""
_FURTHER_RUNS = 3
"""How many more runs of a suite a problem may take: measured before and after the fix, and run with it."""

_AFTER_OTHERS = "it passes when only the files with failing tests run: it depends on tests that run before or on chance"


class Run(NamedTuple):
    """One run of a suite, or a part of it."""

    report: TestReport
    leftover: set[str]
    """New files that the tests left."""
    seconds: Mapping[str, float]
    """How long each test took."""


@dataclass(frozen=True)
class Suite:
    """The combined result of several runs of a suite."""

    passing: frozenset[str]
    failing: Mapping[str, str]
    """Test id -> the exception, on one line. Includes test files that cannot be imported because of the program."""
    flaky: tuple[str, ...]
    not_isolated: tuple[str, ...] = ()
    """Tests that fail because they write outside of the workspace or need a network. The program is not at fault."""
    leaves: frozenset[str] = frozenset()
    """New files that the tests leave in the workspace. They are not part of any change."""
    unread: tuple[str, ...] = ()
    """Test files that need a module that is not installed, each with the reason."""
    lacking: Mapping[str, str] = field(default_factory=dict)
    """Test -> why its outcome says nothing about the program: it depends on the surroundings, or its id changes."""
    slow: tuple[str, ...] = ()
    """Tests that take most of the time of a long run: all further runs leave them out."""
    is_long: bool = False
    """Whether one run takes so long that whatever can do without a run of the whole suite should."""

    def outcome(self, test: str) -> str:
        """Return the outcome of a test or, for a file that can be imported, of its tests: `passed` if all passed."""
        if test in self.passing:
            return "passed"
        if test in self.failing:
            return "failed"
        if test in self.flaky:
            return "flaky"
        inside = [test.removesuffix(CONFTEST)] if is_conftest(test) else [f"{test}::", f"{test}/"]
        if any(name.startswith(tuple(inside)) for name in (*self.failing, *self.unread)):
            return "failed"
        return "passed" if any(name.startswith(tuple(inside)) for name in self.passing) else "missing"

    @property
    def reasons(self) -> Iterator[str]:
        """Why tests do not pass, the plainest reason first."""
        yield from self.failing.values()
        yield from self.unread
        yield from self.lacking.values()
        if self.not_isolated:
            tests_need = count_of(len(self.not_isolated), "test needs", "tests need")
            yield f"{tests_need} a server, a network or a place to write to, which a sandbox lacks"
        yield from self.flaky

    @property
    def counts(self) -> dict[str, int]:
        """The number of passed, failing and flaky tests, and of test files that lack a module."""
        counts = {"passed": len(self.passing), "failed": len(self.failing), "flaky": len(self.flaky)}
        return counts | {"unread": len(self.unread)}


def run_suite(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None] | None = None,
    *,
    times: int,
    only: Sequence[str] = (),
    say: Say = silent,
) -> Suite:
    """Run the suite, and the files of what may be the program's fault again, so that these run `times` times, each in a
    new sandbox.

    `changed`: files with new content, None for deleted files; `only`: run only these files or tests; `say`: is told if
    a run takes long. Raises BenchmarkError if the suite gives no result, SandboxError.
    """
    first, seconds, slow = _first_run(project, backend, changed or {}, only)
    if slow:
        tests_take = count_of(len(slow), "test takes", "tests take")
        say(f"{project.name}: {tests_take} most of the time, so further runs leave out {shorten(slow)}")
    project = project.leaving_out(slow)
    # What fails for a lack of something is set aside, however often it runs.
    doubtful = {*_combine_runs([first], project.files, project.submodules).failing}
    doubtful |= {test for test, outcome in first.report.outcomes.items() if outcome == "missing"}
    if seconds > _LONG_S:
        say(_explain_time(project, seconds, doubtful))
    again = _repeat(project, backend, changed or {}, first, doubtful, times - 1)
    suite = replace(_combine_runs([first, *again], project.files, project.submodules), is_long=seconds > _LONG_S)
    suite = replace(suite, slow=tuple(slow), lacking={**suite.lacking, **slow})
    files = {path_of(test) for test in doubtful}
    if all(path_of(test) in files for test in first.report.outcomes):
        return suite
    alone = {test for test in suite.flaky if all(other.report.outcomes.get(test) in PASSED for other in again)}
    return replace(
        suite,
        flaky=tuple(test for test in suite.flaky if test not in alone),
        lacking={**suite.lacking, **dict.fromkeys(alone, _AFTER_OTHERS)},
    )


def _first_run(
    project: Project, backend: Backend, changed: Mapping[str, bytes | None], only: Sequence[str]
) -> tuple[Run, float, dict[str, str]]:
    """Run the suite once, and without its slow tests if it does not end.

    Returns the run without slow tests, how long it would take, and those tests: test -> why they are left out.
    """
    slow: dict[str, str] = {}
    while True:
        started = time.monotonic()
        try:
            run = _run(project.leaving_out(slow), backend, changed, only)
        except UnfinishedRun as error:
            further = find_slow(error.report, error.seconds, time.monotonic() - started, error.running)
            is_all = {*error.report.outcomes} <= {*further}
            if only or not further or is_all or len(slow) >= _MOST_UNFINISHED:
                raise
            slow |= further
            continue
        seconds = time.monotonic() - started
        if seconds > _LONG_S and not only:
            further = find_slow(run.report, run.seconds, seconds)
            seconds -= sum(run.seconds.get(test, 0.0) for test in further)
            quick = {test: outcome for test, outcome in run.report.outcomes.items() if test not in further}
            run, slow = run._replace(report=replace(run.report, outcomes=quick)), {**slow, **further}
        return run, seconds, slow


def _explain_time(project: Project, seconds: float, failing: Collection[str]) -> str:
    """Say how long a run takes, and how it takes less time."""
    files = sorted({path_of(test) for test in failing})
    remedy = "name fewer tests with --test"
    if 0 < len(files) <= _FEW_FILES:
        remedy += f", such as --test {shlex.quote(project.command.on(files))} for what may fail because of the program"
    return (
        f"{project.name}: one run of its tests takes {duration(seconds)}, and finding and checking fixes takes up to "
        f"{1 + _FURTHER_RUNS} of them: {remedy}, if that is too long"
    )


def _repeat(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None],
    first: Run,
    tests: Collection[str],
    times: int,
) -> list[Run]:
    """Run the files of these tests again, and return runs of the whole suite: other tests end as in the first one."""
    if not tests:
        return []
    targets = _targets_of(project, {**project.files, **changed}, tests)
    again = tuple(target.rstrip("/") for target in targets)
    kept = {
        test: outcome
        for test, outcome in first.report.outcomes.items()
        if again and not any(path_of(test) == target or path_of(test).startswith(f"{target}/") for target in again)
    }
    runs = (_run(project, backend, changed, targets) for _ in range(times))
    return [run._replace(report=replace(run.report, outcomes={**kept, **run.report.outcomes})) for run in runs]


def passing_unchanged(project: Project, backend: Backend, tests: Collection[str], *, times: int) -> frozenset[str]:
    """Return those of these tests that pass whenever their files run without a change. Raises as `run_suite`."""
    targets = _targets_of(project, project.files, tests)
    runs = [_run(project, backend, {}, targets) for _ in range(times if tests else 0)]
    return _combine_runs(runs, project.files, project.submodules).passing & {*tests}


def _targets_of(project: Project, files: Collection[str], tests: Collection[str]) -> list[str]:
    """Return what pytest has to run for these tests; all, if it cannot run one of their files by its path.

    If a conftest.py that it loads first cannot be imported, it runs nothing.
    """
    paths = {path_of(test) for test in tests}
    if all(path in files and can_be_named(path) and not is_conftest(path) for path in paths):
        return project.targets_of(tests)
    return list(project.command.targets)


def run_again(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None],
    suite: Suite,
    targets: Collection[str],
    *,
    times: int,
) -> Suite:
    """Run the suite with a change, and the files of tests that passed before, or are targets, and do not pass `times`
    times, because they may be flaky. Raises the same as `run_suite`.
    """
    first = _run(project, backend, changed, ())
    rerun = _combine_runs([first], project.files, project.submodules)
    if doubtful := {test for test in (*suite.passing, *targets) if rerun.outcome(test) != "passed"}:
        runs = [first, *_repeat(project, backend, changed, first, doubtful, times - 1)]
        rerun = _combine_runs(runs, project.files, project.submodules)
    ignored = {*suite.flaky, *suite.not_isolated, *suite.lacking}
    return replace(
        rerun,
        passing=rerun.passing - ignored,
        failing={test: reason for test, reason in rerun.failing.items() if test not in ignored},
        flaky=tuple(sorted({*suite.flaky, *rerun.flaky})),
        lacking={**rerun.lacking, **suite.lacking},
    )


def all_pass(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None],
    tests: Iterable[str],
    only: Sequence[str] = (),
) -> bool:
    """Run the suite, or `only` these tests, once with a change, and return whether all of `tests` pass.

    Raises SandboxError.
    """
    try:
        report = _run(project, backend, changed, only).report
    except BenchmarkError:  # they do not end, or do not even start
        return False
    return all(report.outcomes.get(test) in PASSED for test in tests)


def _combine_runs(runs: Sequence[Run], files: Mapping[str, bytes], submodules: Collection[str] = ()) -> Suite:
    """Combine several runs into one result. `files`, `submodules`: those of the project."""
    reports = [run.report for run in runs]
    reported = {test for report in reports for test in report.outcomes}
    passing, failing, flaky, not_isolated, reasons = set(), {}, [], [], {}
    lacking = Lacking(files, submodules)
    functions = [{function_of(test) for test in report.outcomes} for report in reports]
    for test in sorted(reported):
        outcomes = {report.outcomes.get(test, "missing") for report in reports}
        message = next((report.messages[test] for report in reports if test in report.messages), "")
        is_moving = "missing" in outcomes and all(function_of(test) in names for names in functions)
        if has_address(test) or is_moving:
            reasons[test] = "its id is another one in each process"
        elif not can_be_named(path_of(test)) and "failed" in outcomes:
            reasons[test] = (
                "pytest cannot run its file by its path, in which `[` and `::` mean something else: rename it"
            )
        elif outcomes <= set(PASSED):
            passing.add(test)
        elif len(outcomes) > 1:
            flaky.append(test)
        elif outcomes == {"failed"} and (reason := lacking.explain_test(test, message)):
            reasons[test] = reason
        elif outcomes == {"failed"} and _OUTSIDE.search(message):
            not_isolated.append(test)
        elif outcomes == {"failed"}:
            failing[test] = message
    leaves = frozenset(path for run in runs for path in run.leftover)
    unread = []
    errors = [dict(_import_error(error, files) for error in report.collect_errors) for report in reports]
    for file in sorted({file for messages in errors for file in messages}):
        message = next(messages[file] for messages in errors if file in messages)
        if place := lacking.folder_of_package(message):
            unread.append(f"{file}: {message} (its package is not installed: name the folder {place} as the project)")
        elif lacking.lacks_module(message):
            unread.append(f"{file}: {message}")
        elif reason := lacking.explain_file(message):
            reasons[file] = reason
        elif _OUTSIDE.search(message):
            not_isolated.append(file)
        elif not all(file in messages for messages in errors):
            flaky.append(file)
        else:
            failing[file] = message
    return Suite(frozenset(passing), failing, tuple(flaky), tuple(not_isolated), leaves, tuple(unread), reasons)


def _import_error(error: str, files: Collection[str]) -> tuple[str, str]:
    """Return the file that cannot be imported, and the exception, from an entry of `TestReport.collect_errors`.

    For a conftest.py, pytest names the folder.
    """
    place, _, lines = error.partition(": ")
    file = conftest if (conftest := f"{place}/{CONFTEST}") in files else place
    return file, " ".join(line.removeprefix("E").strip() for line in literal(lines))


def select_broken_since(project: Project, backend: Backend, suite: Suite, base: str, *, times: int) -> Suite:
    """Return the suite without tests that already fail where `base` and the project diverge. Raises as `run_suite`."""
    commit = resolve_commit(project.repository, base)
    try:
        parted = read_git(project.repository, "merge-base", commit, project.commit).decode().strip()
    except BenchmarkError:
        raise BenchmarkError(
            f"{project.repository} has no common ancestor of {base} and HEAD: fetch more of its history, or "
            "name another --base"
        ) from None
    base_suite = run_suite(project.at(parted), backend, times=times)
    earlier = {*base_suite.failing, *base_suite.flaky, *base_suite.not_isolated, *base_suite.lacking}
    return replace(suite, failing={test: reason for test, reason in suite.failing.items() if test not in earlier})


def _run(project: Project, backend: Backend, changed: Mapping[str, bytes | None], only: Sequence[str]) -> Run:
    """Run the suite once. Returns the report, and the new files that the tests left."""
    files = {name: content for name, content in {**project.files, **changed}.items() if content is not None}
    command = project.command.on(only or project.command.targets, "--continue-on-collection-errors")
    with Sandbox(backend, project.spec) as sandbox:
        sandbox.put(files)
        key = os.urandom(32)
        result = sandbox.test(command, project.timeout_s, key, score=True, every=True)
        leftover = {path for path in sandbox.changes().files if path not in files}
    report = parse(result.report, key) if result.report else TestReport()
    seconds = seconds_of(result.report or "")
    if result.timed_out:
        raise UnfinishedRun(project.name, project.timeout_s, report, seconds)
    conftest = _CONFTEST.search(result.output)
    if conftest and not report.outcomes and not report.collect_errors:
        error = f"{conftest[1].removeprefix(f'{sandbox.root}/')}: {[_last_line(result.output)]}"
        report = TestReport(collect_errors=(error,), complete=True)
    if report.outcomes and not report.complete:
        raise BenchmarkError(f"{project.name}: {project.command.why_unfinished(report, len(result.report or ''))}")
    if not (report.outcomes or report.collect_errors) or not report.complete:
        reason = report.collect_errors[0] if report.collect_errors else _last_line(result.output)
        if result.exit == _NOTHING_COLLECTED and not report.collect_errors:
            raise BenchmarkError(
                f"pytest finds no tests in {project.name}: name them with --test, such as --test 'pytest checks.py', "
                "or name the folder of the package that has them"
            )
        remedy = find_remedy(reason, files)
        if settings := re.search(rf"{re.escape(sandbox.root)}/?(\S+\.(?:toml|cfg|ini)):", reason):
            remedy = f"correct {settings[1]}, which pytest cannot read, and commit it"
        if "hookspec" in reason:
            remedy = "its conftest.py is for another version of pytest, so name that one, as in --require 'pytest<8'"
        raise BenchmarkError(f"the tests of {project.name} do not run ({reason[:300]}): {remedy}")
    return Run(report, leftover, seconds)


def _last_line(output: str) -> str:
    """Return the last line that mentions an error, else the last line."""
    lines = output.strip().splitlines() or ["they print nothing"]
    errors = [line for line in lines if re.search(r"(?i)\berror\b", line)]
    return " ".join((errors or lines)[-1].split())
