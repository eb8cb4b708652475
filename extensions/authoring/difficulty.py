"""Measures how far the fault of a task is from what its failing test shows, and how hard that makes the task.

The tests of the verdict run on the task as given. The failing test that counts is the first that an agent sees, else
the first of all.
"""

from __future__ import annotations

import ast
import math
import shlex
from collections.abc import Mapping

from stackrank.env.difficulty import Difficulty
from stackrank.env.localisation.formulas import FORMULAS, rank
from stackrank.env.localisation.spectrum import (
    SourceLine,
    Spectrum,
    Unmeasured,
    measure_distance,
    measure_suite,
)
from stackrank.env.patches import function_spans
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.testing.commands import pytest_run
from stackrank.env.sandbox.guest.testing.ids import path_of
from stackrank.env.task import Fault, Task
from stackrank.source import parse_python

SLOWER = 5.0
"""A task's tests may take this many times as long while they are measured."""
_WITH_VALUE = ("-o", "-p", "-c", "-W", "--rootdir", "--confcutdir")
_CHOOSING = ("-k", "-m", "--deselect", "--ignore")


def measure(task: Task, sandbox: Sandbox) -> Difficulty:
    """Measure a task in two watched runs of its tests, in a sandbox that is cleared first. Raises SandboxError."""
    if not any(fault.lines for fault in task.faults):
        return Difficulty(task.digest, "the location of its fault is unknown")
    files = {**task.files, **task.hidden_files}
    command = task.score_command or task.test_command
    timeout_s = task.limits.timeout_s * SLOWER
    try:
        suite = measure_suite(sandbox, files, command, timeout_s, task.limits.timeout_s / 2)
        test = _decisive_test(task, suite)
        distance = measure_distance(
            sandbox, files, _single_test_command(command, test), fault_places(task.faults, files, suite), timeout_s
        )
    except Unmeasured as error:
        return Difficulty(task.digest, str(error))
    return describe(task.digest, task.faults, files, suite, test, distance)


def describe(
    digest: str,
    faults: tuple[Fault, ...],
    files: Mapping[str, bytes],
    suite: Spectrum,
    test: str,
    distance: int | None,
) -> Difficulty:
    """Combine the results of the runs to a measurement."""
    frames = suite.failures.get(test, ())
    run = suite.run_by(test)
    spans = {file: function_spans(files[file]) for file in {file for file, _ in run}}
    counts = suite.of(fault_places(faults, files, suite))
    return Difficulty(
        digest,
        test=test,
        in_traceback=any(_traceback_shows(fault, files, frames) for fault in faults),
        in_named_file=bool({file for file, _ in frames} & {fault.file for fault in faults}),
        ranks={name: rank(formula, suite.counts, counts) for name, formula in FORMULAS.items()},
        lines=suite.counts.total(),
        lines_run=len(run),
        functions_run=len({(file, _innermost(spans[file], line)) for file, line in run} - {(f, "") for f in spans}),
        distance=distance,
    )


def _decisive_test(task: Task, suite: Spectrum) -> str:
    """Return the failing test that counts. Raises Unmeasured."""
    if not suite.failing:
        raise Unmeasured("none of its tests fails while they are measured")

    def order(test: str) -> tuple[bool, bool]:
        file = path_of(test)
        return file in task.hidden_files or file not in task.files, bool(task.must_pass) and test not in task.must_pass

    return min(suite.failing, key=order)


def _single_test_command(command: str, test: str) -> str:
    """Return the command for one test. It keeps other options, but not the tests and files that it names."""
    run = pytest_run(command)
    if run is None:
        raise Unmeasured("its tests are not run by pytest")
    pairs = zip(["", *run.arguments], run.arguments, strict=False)
    options = [
        word
        for previous, word in pairs
        if previous in _WITH_VALUE or (word.startswith("-") and word not in ("--", *_CHOOSING))
    ]
    variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in run.variables.items())
    folder = "" if run.folder == "." else f"cd {shlex.quote(run.folder)} && "
    return f"{folder}{variables} python -m pytest {shlex.join([*options, test])}".replace("  ", " ")


def fault_places(faults: tuple[Fault, ...], files: Mapping[str, bytes], suite: Spectrum) -> set[SourceLine]:
    """Return the lines that run in the statements that the fix touches.

    If the fix touches functions, lines outside of them do not count: they are only next to what it adds.
    """
    places: set[SourceLine] = set()
    for fault in faults:
        run = suite.lines.get(fault.file, {})
        touched: set[int] = set()
        for line in fault.lines:
            span = _statement(files.get(fault.file, b""), line)
            touched |= {line} if line in run else {number for number in span if number in run}
        spans = [(first, last) for name, first, last in function_spans(files.get(fault.file, b""))]
        in_functions = {line for line in touched if any(first < line <= last for first, last in spans)}
        places |= {(fault.file, line) for line in (in_functions if fault.functions and in_functions else touched)}
    return places


def _statement(source: bytes, line: int) -> range:
    """Return the lines of the innermost statement around a line; of a compound statement, the lines of its head."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError):
        return range(line, line + 1)
    best = range(line, line + 1)
    size = math.inf
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        last = node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        if isinstance(body, list) and body:
            last = max(node.lineno, body[0].lineno - 1)
        if node.lineno <= line <= last and last - node.lineno < size:
            best, size = range(node.lineno, last + 1), last - node.lineno
    return best


def _traceback_shows(fault: Fault, files: Mapping[str, bytes], frames: tuple[SourceLine, ...]) -> bool:
    source = files.get(fault.file, b"")
    spans = function_spans(source)
    lines = [line for file, line in frames if file == fault.file]
    if not _parses(source):
        return bool(lines)
    return any(line in fault.lines or _innermost(spans, line) in fault.functions for line in lines)


def _parses(source: bytes) -> bool:
    try:
        parse_python(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _innermost(spans: list[tuple[str, int, int]], line: int) -> str:
    """Return the innermost function that a line is in; empty at module level."""
    return min(((last - first, name) for name, first, last in spans if first <= line <= last), default=(0, ""))[1]
