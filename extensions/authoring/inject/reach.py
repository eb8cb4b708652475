"""The unchanged project: whether its tests pass, and which of them reach which line."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.benchmarks.python_project.remedies import database_remedy, describe_older
from stackrank.env.benchmarks.testfiles import is_doctest
from stackrank.env.localisation.spectrum import AT_IMPORT, Unmeasured, measure_suite
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.environments import HOME
from stackrank.env.sandbox.guest.testing.ids import function_of, path_of
from stackrank.env.scoring.report import PASSED, TestReport, parse
from stackrank.wording import count_of

log = logging.getLogger(__name__)
_NOTHING_COLLECTED = 5
"""pytest's exit status."""
_MOST_NAMED = 20
"""The most tests or files that a message names."""
_MOST_BROKEN = 5
"""Test files that cannot be collected, and unstable tests, are left out if there are this many times as many others."""
_SUMS = ".stackrank-sums"
_FIND_COPIES = f"""
import hashlib, json, os
sums = set(open("{_SUMS}").read().split())
found = []
for top in (".", "{HOME}"):
    for folder, _, names in os.walk(os.path.abspath(top)):
        for path in (os.path.join(folder, name) for name in names if name.endswith(".py")):
            if os.path.isfile(path) and hashlib.sha256(open(path, "rb").read()).hexdigest() in sums:
                found.append(path)
print(json.dumps(found[:1000]))
"""


@dataclass(frozen=True, eq=False)
class Reach:
    """Which tests reach which lines."""

    tests: tuple[str, ...]
    """Test ids."""
    seconds: tuple[float, ...]
    """How long each test takes while it is measured, which is longer than it takes otherwise."""
    groups: tuple[frozenset[int], ...]
    """Sets of tests, as numbers in `tests`; `lines` refers to a set by its own number."""
    lines: Mapping[str, Mapping[int, int]]
    """File -> line -> number of a group."""
    left_out: tuple[str, ...] = ()
    """Tests that fail in the unchanged project, and files of tests that cannot be collected."""
    unstable: tuple[str, ...] = ()
    """Test functions whose tests do not have the same ids, or results, in each run."""

    def of(self, file: str, lines: Iterable[int]) -> frozenset[int]:
        """Return the tests that reach any of the lines; none if importing the file already does so."""
        groups = {group for line in lines if (group := self.lines[file].get(line)) is not None}
        tests = frozenset[int]().union(*(self.groups[group] for group in groups))
        return frozenset() if AT_IMPORT in tests else tests

    @cached_property
    def passing(self) -> frozenset[str]:
        """The tests that can be relied upon."""
        return frozenset(test for test in self.tests if function_of(test) not in self.unstable)

    @cached_property
    def only_doctests(self) -> bool:
        """Whether all tests are doctests."""
        return all(map(is_doctest, self.tests))

    @cached_property
    def sizes(self) -> Counter[int]:
        """How many lines each group has."""
        return Counter(group for lines in self.lines.values() for group in lines.values())

    def to_json(self) -> str:
        """Return JSON that `from_json` reads."""
        groups = [sorted(group) for group in self.groups]
        tests = {"tests": self.tests, "seconds": self.seconds, "left_out": self.left_out, "unstable": self.unstable}
        return json.dumps({**tests, "groups": groups, "lines": self.lines})

    @classmethod
    def from_json(cls, text: str) -> Reach:
        """Read what `to_json` wrote."""
        data = json.loads(text)
        lines = {file: {int(line): group for line, group in by_line.items()} for file, by_line in data["lines"].items()}
        groups = tuple(map(frozenset, data["groups"]))
        left_out, unstable = tuple(data["left_out"]), tuple(data["unstable"])
        return cls(tuple(data["tests"]), tuple(data["seconds"]), groups, lines, left_out, unstable)


def refuse_copies(sandbox: Sandbox, files: Mapping[str, bytes]) -> None:
    """Raise BenchmarkError if the set-up has copied the project's source, because tests would run the copy."""
    sums = {path: hashlib.sha256(files[path]).hexdigest() for path in files if path.endswith(".py") and files[path]}
    sandbox.put({**files, _SUMS: "\n".join(sums.values()).encode()}, fresh=True)
    copies = json.loads(sandbox.run(f"python -c {shlex.quote(_FIND_COPIES)}", 120).output)
    project_files = {f"{sandbox.root.rstrip('/')}/{path}" for path in files}
    copy = next((path for path in copies if path not in project_files), None)
    if copy is not None:
        raise BenchmarkError(
            f"its setup copies the project ({copy}), and the tests would run the copy: "
            "install it in place (pip install -e .)"
        )


def measure(sandbox: Sandbox, files: Mapping[str, bytes], command: TestCommand, timeout_s: float) -> Reach:
    """Run all tests twice, once measured. Raises BenchmarkError, one sentence, if the tests cannot be used."""
    report, output = _run(sandbox, files, command, timeout_s)
    left_out: list[str] = []
    if report.collect_errors:
        reason = _reason(report.collect_errors[0], files) or " ".join(report.collect_errors[0].split())[:300]
        broken = sorted({error.partition(": ")[0] for error in report.collect_errors})
        files_with_tests = {path_of(test) for test in report.outcomes}
        if _MOST_BROKEN * len(broken) > len(files_with_tests):
            remedy = f"(use --require, --setup or --test){describe_older(reason, files)}"
            raise BenchmarkError(f"its tests cannot be collected: {reason} {remedy}")
        log.warning("left out because they cannot be collected (%s): %s", reason, ", ".join(broken))
        left_out, command = broken, command.without(broken)
        report, output = _run(sandbox, files, command, timeout_s)
    bad = [test for test, outcome in report.outcomes.items() if outcome not in (*PASSED, "skipped")]
    reason = _reason(output, files)
    if len(bad) > min(len(report.outcomes) // 20, _MOST_NAMED):
        raise BenchmarkError(
            f"{len(bad)} of its tests fail in the original project{f', most often with {reason}' if reason else ''}: "
            f"fix them, install what they need with --require or --setup, or leave them out{_without(command, bad)}"
        )
    if bad:
        log.warning(
            "left out because they fail in the original project (%s): %s", reason or "no reason", ", ".join(bad)
        )
        left_out, command = left_out + bad, command.without(bad)
    return replace(_measured(sandbox, files, command, report.outcomes, timeout_s), left_out=tuple(left_out))


def _run(
    sandbox: Sandbox, files: Mapping[str, bytes], command: TestCommand, timeout_s: float
) -> tuple[TestReport, str]:
    """Run the tests of the unchanged project. Returns their report and what they print. Raises BenchmarkError."""
    sandbox.put(files, fresh=True)
    key = os.urandom(32)
    result = sandbox.test(command.whole(), timeout_s, key, score=True, every=True)
    report = parse(result.report, key) if result.report else TestReport()
    last = " ".join((result.output.strip().splitlines() or ["no output"])[-1].split())
    if result.timed_out:
        raise BenchmarkError(
            f"its tests do not end within {timeout_s:g} s: name faster ones with --test, or set --timeout"
        )
    if not report.outcomes and not report.collect_errors:
        if result.exit != _NOTHING_COLLECTED:
            reason = _reason(result.output, files) or last[:200]
            raise BenchmarkError(f"pytest does not start: {reason} (use --require, --setup or --test)")
        raise BenchmarkError(f"no tests were found: name them with --test ({last[:200]})")
    if not report.complete:
        raise BenchmarkError(command.why_unfinished(report, len(result.report or "")))
    return report, result.output


def _measured(
    sandbox: Sandbox, files: Mapping[str, bytes], command: TestCommand, outcomes: Mapping[str, str], timeout_s: float
) -> Reach:
    """Run the tests while coverage.py measures them. `outcomes`: what they are otherwise. Raises BenchmarkError."""
    passed = {test for test, outcome in outcomes.items() if outcome in PASSED}
    tolerated = max(3, len(passed) // 20)
    try:
        suite = measure_suite(sandbox, files, command.whole(), timeout_s * 3)
        failing = suite.failing
        if 0 < len(failing) <= tolerated:
            suite = measure_suite(sandbox, files, command.without(failing).whole(), timeout_s * 3)
    except Unmeasured as error:
        raise BenchmarkError(str(error)) from None
    if suite.failing:
        raise BenchmarkError(
            f"{len(suite.failing)} of its tests fail while coverage.py measures them: "
            f"leave them out{_without(command, suite.failing)}"
        )
    differing = sorted(passed.difference(suite.tests).union(set(suite.tests).difference(outcomes)))
    if not suite.lines or _MOST_BROKEN * len(differing) > len(passed):
        raise BenchmarkError(
            f"its tests give different results when they are measured: leave these out{_without(command, differing)}"
        )
    unstable = tuple(dict.fromkeys(function_of(test) for test in differing))
    if unstable:
        log.warning("left out because their results change while coverage.py measures them: %s", ", ".join(unstable))
    return Reach(suite.tests, suite.seconds, suite.groups, suite.lines, unstable=unstable)


def _reason(output: str, files: Iterable[str]) -> str:
    """Return the error that pytest prints most often, and how to fix it if a module is missing, or nothing."""
    # Lines of pytest's and of Python's tracebacks; if there are none, of the summary, in which they may be cut off.
    lines = re.findall(r"(?m)(?:\bE  |^(?=[\w.]*(?:Error|Exception|Warning): ))([^\n\"]+)", output)
    lines = lines or re.findall(r"(?m)^(?:FAILED|ERROR) .+? - ([^\n\"]+)", output)
    errors = [" ".join(line.split()) for line in lines]
    exceptions = [line for line in errors if re.match(r"[\w.]*(Error|Exception|Warning)\b", line)]
    most_frequent = Counter(exceptions or errors).most_common(1)
    reason = most_frequent[0][0][:200] if most_frequent else ""
    if remedy := database_remedy(reason):
        return f"{reason} ({remedy})"
    if (missing := re.search(r"No module named '(\w+)((?:\.\w+)*)", reason)) is None:
        return reason
    name, files = missing[1], list(files)
    if missing[2] and any(f"/{name}/" in f"/{path}" for path in files):
        return f"{reason}, which is not among the project's files"
    module_files = (path for path in files if path.endswith((f"/{name}.py", f"/{name}/__init__.py")))
    folders = {path.removesuffix("/__init__.py").rpartition("/")[0]: path for path in module_files}
    # A module of a package has another name than that of a distribution, such as `shop.yaml`.
    folder = next((folder for folder in folders if f"{folder}/__init__.py" not in files), "")
    if folder:
        module_file = folders[folder]
        return f"{reason}, which is {module_file}: put its folder on the path with --test '... -o pythonpath={folder}'"
    return f"{reason}, which --require {name} may install"


def _without(command: TestCommand, tests: Sequence[str]) -> str:
    """Return how to say that these tests are left out; if they are many, with those of the first files."""
    files = list(dict.fromkeys(path_of(test) for test in tests))
    deselected = [f"--deselect={target}" for target in (tests if len(tests) <= _MOST_NAMED else files[:_MOST_NAMED])]
    note = f" (and {count_of(len(files) - _MOST_NAMED, 'more file')})" if len(tests) > _MOST_NAMED < len(files) else ""
    return f" with --test {shlex.quote(command.whole(*deselected))}{note}"
