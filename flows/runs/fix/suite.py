"""A project's whole suite, run in sandboxes: what passes, what fails, and what is not the same each time."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.git import git, resolve_commit
from stackrank.env.sandbox.base import Backend
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.scoring.report import PASSED, TestReport, parse
from stackrank.flows.runs.fix.project import Project
from stackrank.source import literal

_OUTSIDE = re.compile(
    r"Read-only file system|\[Errno 30\]|PermissionError: \[Errno 13\]"
    r"|\bgaierror\b|Name or service not known|Temporary failure in name resolution|Network is unreachable"
)
"""A test that fails like that wrote where a sandbox lets nobody write, or asked for the network, which it has not."""

_MISSING = re.compile(r"ModuleNotFoundError: No module named '(\w+)|ImportError: cannot import name .* from '(\w+)")
"""A file of tests that cannot be imported, because of the module that is named here."""


@dataclass(frozen=True)
class Suite:
    """What several runs of a suite agree on."""

    passing: frozenset[str]
    failing: Mapping[str, str]
    """Test id -> the exception, one line. Also files of tests that cannot be imported because of the program."""
    flaky: tuple[str, ...]
    outside: tuple[str, ...] = ()
    """Tests that fail because they write outside of the workspace or need a network: no problem of the program."""
    leaves: frozenset[str] = frozenset()
    """New files that the tests leave in the workspace: no part of any change."""
    unread: tuple[str, ...] = ()
    """Files of tests that need a module which is not installed, each with the reason."""

    def outcome(self, test: str) -> str:
        """What a test came to; of a file, what its tests came to, where it can be imported: `passed` if all did."""
        if test in self.passing:
            return "passed"
        if test in self.failing:
            return "failed"
        if test in self.flaky:
            return "flaky"
        within = (f"{test}::", f"{test}/")
        if any(each.startswith(within) for each in (*self.failing, *self.unread)):
            return "failed"
        return "passed" if any(each.startswith(within) for each in self.passing) else "missing"

    @property
    def counts(self) -> dict[str, int]:
        """How many tests passed, failed, and were set aside, and how many files of tests cannot be imported."""
        counts = {"passed": len(self.passing), "failed": len(self.failing), "flaky": len(self.flaky)}
        return counts | {"unread": len(self.unread)}


def run_suite(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None] | None = None,
    *,
    times: int,
    only: Sequence[str] = (),
) -> Suite:
    """Run the suite `times` times, each in a sandbox of its own. `changed`: files with another content, None: gone;
    `only`: these files or tests of it.

    Raises BenchmarkError where nothing can be told from it, SandboxError.
    """
    return _agreed([_run(project, backend, changed or {}, only) for _ in range(times)], project.files)


def run_again(
    project: Project,
    backend: Backend,
    changed: Mapping[str, bytes | None],
    before: Suite,
    targets: Collection[str],
    *,
    times: int,
) -> Suite:
    """The suite with a change: run once, and the other times only where a test that passed before, or one of the
    targets, does not pass now, since it may be flaky. Raises as `run_suite`.
    """
    runs = [_run(project, backend, changed, ())]
    first = _agreed(runs, project.files)
    if any(first.outcome(test) != "passed" for test in (*before.passing, *targets)):
        runs += [_run(project, backend, changed, ()) for _ in range(times - 1)]
    after = _agreed(runs, project.files)
    known = {*before.flaky, *before.outside}
    return replace(
        after,
        passing=after.passing - known,
        failing={test: why for test, why in after.failing.items() if test not in known},
        flaky=tuple(sorted({*before.flaky, *after.flaky})),
    )


def _agreed(runs: Sequence[tuple[TestReport, set[str]]], files: Iterable[str]) -> Suite:
    """`files`: of the project."""
    reports = [report for report, _ in runs]
    seen = {test for report in reports for test in report.outcomes}
    passing, failing, flaky, outside = set(), {}, [], []
    for test in sorted(seen):
        outcomes = {report.outcomes.get(test, "missing") for report in reports}
        message = next((report.messages[test] for report in reports if test in report.messages), "")
        if outcomes <= set(PASSED):
            passing.add(test)
        elif len(outcomes) > 1:
            flaky.append(test)
        elif outcomes == {"failed"} and _OUTSIDE.search(message):
            outside.append(test)
        elif outcomes == {"failed"}:
            failing[test] = message
    leaves = frozenset(path for _, left in runs for path in left)
    unread = []
    own = {part for file in files for part in PurePosixPath(file).with_suffix("").parts}
    errors = [dict(map(_import_error, report.collect_errors)) for report in reports]
    for file in sorted({file for each in errors for file in each}):
        message = next(each[file] for each in errors if file in each)
        lacks = _MISSING.search(message)
        if lacks and (lacks[1] or lacks[2]) not in own:
            unread.append(f"{file}: {message}")
        elif not all(file in each for each in errors):
            flaky.append(file)
        elif _OUTSIDE.search(message):
            outside.append(file)
        else:
            failing[file] = message
    return Suite(frozenset(passing), failing, tuple(flaky), tuple(outside), leaves, tuple(unread))


def _import_error(error: str) -> tuple[str, str]:
    """The file that cannot be imported, and the exception, from an entry of `TestReport.collect_errors`."""
    file, _, lines = error.partition(": ")
    return file, " ".join(line.removeprefix("E").strip() for line in literal(lines))


def broken_since(project: Project, backend: Backend, suite: Suite, base: str, *, times: int) -> Suite:
    """The suite without the tests that fail at the commit where `base` and the project part. Raises as `run_suite`."""
    given = resolve_commit(project.repository, base)
    try:
        parted = git(project.repository, "merge-base", given, project.commit).decode().strip()
    except BenchmarkError:
        raise BenchmarkError(
            f"{project.repository} has no common ancestor of {base} and HEAD: fetch more of its history, or "
            "name another --base"
        ) from None
    before = run_suite(project.at(parted), backend, times=times)
    known = {*before.failing, *before.flaky, *before.outside}
    return replace(suite, failing={test: why for test, why in suite.failing.items() if test not in known})


def _run(
    project: Project, backend: Backend, changed: Mapping[str, bytes | None], only: Sequence[str]
) -> tuple[TestReport, set[str]]:
    """What the tests came to, and the new files that they left."""
    files = {name: each for name, each in {**project.files, **changed}.items() if each is not None}
    command = project.command.on(only or project.command.targets, "--continue-on-collection-errors")
    with Sandbox(backend, project.spec) as sandbox:
        sandbox.put(files)
        key = os.urandom(32)
        result = sandbox.test(command, project.timeout_s, key, score=True, every=True)
        left = {path for path in sandbox.changes().files if path not in files}
    if result.timed_out:
        raise BenchmarkError(
            f"the tests of {project.name} do not end within {project.timeout_s:g} s: set a longer --timeout, or "
            "name faster ones with --test"
        )
    report = parse(result.report, key) if result.report else TestReport()
    if not (report.outcomes or report.collect_errors) or not report.complete:
        why = report.collect_errors[0] if report.collect_errors else _why(result.output)
        raise BenchmarkError(
            f"the tests of {project.name} do not run ({why[:300]}): name the test command with --test, and "
            "install what they need with --setup and --require"
        )
    return report, left


def _why(output: str) -> str:
    """The last line that speaks of an error, else the last one."""
    said = output.strip().splitlines() or ["they print nothing"]
    errors = [line for line in said if re.search(r"(?i)\berror\b", line)]
    return " ".join((errors or said)[-1].split())
