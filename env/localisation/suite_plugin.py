"""A pytest plug-in that runs inside the sandbox, under `coverage run`: records what each test runs and where it fails.

A context is a test with its fixtures, so what a fixture runs counts as run by every test that it was made for. The
plug-in can rely only on Python 3.8, pytest and coverage.
"""

import json
import os
import signal
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import coverage
import pytest

AT_IMPORT = -1
"""The number that stands for no test: a line that runs when its file is imported."""
MOST_FRAMES = 400
ASKED = json.loads(os.environ.get("MEASUREMENT", "{}"))
"""`result`: the file to write. `limit_s`: seconds that a test may take; 0: no limit."""

tests: dict[str, int] = {}
seconds: dict[str, float] = {}
outcomes: dict[str, str] = {}
failures: dict[str, list[tuple[str, int]]] = {}


def interrupt(number: int, frame: Any) -> None:
    """Handle the alarm. pytest takes the exception for a failure of the test, and hardly any program catches it."""
    raise SystemExit("it does not end")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Generator[None, Any, None]:
    """Attribute the lines that run from here on to this test."""
    measuring = coverage.Coverage.current()
    assert measuring is not None
    measuring.switch_context(str(tests.setdefault(item.nodeid, len(tests))))
    yield
    measuring.switch_context("")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Interrupt a test that does not end, repeatedly in case it catches that."""
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, ASKED["limit_s"], 1.0 if ASKED["limit_s"] else 0.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Record the outcome of a test, and the frames that its failure shows."""
    raised = call.excinfo
    if raised is None and getattr(item, "_excinfo", None):
        raised = item._excinfo[0]  # unittest keeps it there until pytest's own hook, which comes later
    outcome = yield
    report = outcome.get_result()
    seconds[item.nodeid] = seconds.get(item.nodeid, 0.0) + report.duration
    if report.outcome == "failed":
        outcomes[item.nodeid] = "failed"
        failures.setdefault(item.nodeid, frames(raised.value) if raised is not None else [])
    elif report.outcome == "skipped" or report.when == "call":
        outcomes.setdefault(item.nodeid, report.outcome)


def frames(error: BaseException) -> list[tuple[str, int]]:
    """Return file and line of each frame in the traceback of an error and of the errors chained to it."""
    places: list[tuple[str, int]] = []
    visited = set()
    pending: list[Any] = [error]
    while pending and len(places) < MOST_FRAMES:
        exception = pending.pop()
        if exception is None or id(exception) in visited:
            continue
        visited.add(id(exception))
        trace = exception.__traceback__
        while trace is not None and len(places) < MOST_FRAMES:
            places.append((os.path.realpath(trace.tb_frame.f_code.co_filename), trace.tb_lineno))
            trace = trace.tb_next
        if isinstance(exception, SyntaxError) and exception.filename and exception.lineno:
            places.append((os.path.realpath(exception.filename), exception.lineno))
        pending += [exception.__cause__, None if exception.__suppress_context__ else exception.__context__]
    return places


def pytest_unconfigure(config: Any) -> None:
    """Write the result file. A line names the group of tests that run it, because there are few groups."""
    measuring = coverage.Coverage.current()
    assert measuring is not None
    measuring.stop()
    data = measuring.get_data()
    groups: dict[tuple[int, ...], int] = {}
    lines: dict[str, dict[int, int]] = {}
    for file in data.measured_files():
        group_of_line = {}
        for line, contexts in data.contexts_by_lineno(file).items():
            group = tuple(sorted(int(context) if context else AT_IMPORT for context in contexts))
            group_of_line[line] = groups.setdefault(group, len(groups))
        lines[file] = group_of_line
    answer = {
        "tests": list(tests),
        "seconds": [seconds.get(test, 0.0) for test in tests],
        "outcomes": [outcomes.get(test, "missing") for test in tests],
        "failures": failures,
        "groups": list(groups),
        "lines": lines,
    }
    Path(ASKED["result"]).write_bytes(zlib.compress(json.dumps(answer).encode()))
