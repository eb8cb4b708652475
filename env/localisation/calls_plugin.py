"""A pytest plug-in that runs inside the sandbox and counts the calls between the fault and the failure of one test.

It can rely only on Python 3.8 and pytest.
"""

import collections
import functools
import json
import os
import signal
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

ASKED = json.loads(os.environ.get("MEASUREMENT", "{}"))
"""`result`: the file to write. `root`: the workspace. `faults`: file -> lines. `limit_s`: seconds the test may take."""
REMEMBERED = 20
real_file = functools.lru_cache(maxsize=None)(os.path.realpath)


class Watch:
    """Counts the calls of functions in the workspace; a generator that is resumed counts as called."""

    def __init__(self) -> None:
        self.calls = 0
        self.at_fault: int | None = None
        self.raised: collections.deque[tuple[BaseException, int, int | None]] = collections.deque(maxlen=REMEMBERED)
        self._root = ASKED["root"].rstrip("/") + "/"
        self._faults = {file: frozenset(lines) for file, lines in ASKED["faults"].items()}

    def called(self, frame: Any, event: str, value: Any) -> Any:
        """Count the call of a function and trace the function."""
        file = real_file(frame.f_code.co_filename)
        if not file.startswith(self._root):
            return None
        self.calls += 1
        lines = self._faults.get(file)
        if lines is None:
            frame.f_trace_lines = False
            return self._inside

        def at_lines(frame: Any, event: str, value: Any) -> Any:
            if event == "line" and frame.f_lineno in lines:
                self.at_fault = self.calls
            self._inside(frame, event, value)
            return at_lines

        return at_lines

    def _inside(self, frame: Any, event: str, value: Any) -> Any:
        if event == "exception":
            error = value[1]
            if isinstance(error, BaseException) and not (self.raised and self.raised[-1][0] is error):
                self.raised.append((error, self.calls, self.at_fault))
        return self._inside

    def until(self, error: BaseException) -> int | None:
        """Count the calls between the fault and the raising of `error`; None if the fault did not run before."""
        moment = next(((calls, fault) for exception, calls, fault in self.raised if exception is error), None)
        calls, fault = moment or (self.calls, self.at_fault)
        return None if fault is None else calls - fault


watch = Watch() if ASKED else None
answer: dict[str, Any] = {}


def interrupt(number: int, frame: Any) -> None:
    """Handle the alarm. pytest takes the exception for a failure of the test, and hardly any program catches it."""
    raise SystemExit("it does not end")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Generator[None, Any, None]:
    """Watch the set-up of a test too, because the fault may be reached there."""
    assert watch is not None
    outer_trace = sys.gettrace()
    threading.settrace(watch.called)
    sys.settrace(watch.called)
    yield
    sys.settrace(outer_trace)
    threading.settrace(outer_trace)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: Any) -> Generator[None, Any, None]:
    """Interrupt a test that does not end."""
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, ASKED["limit_s"], 1.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """Record the distance of the first failure."""
    assert watch is not None
    raised = call.excinfo
    if raised is None and getattr(item, "_excinfo", None):
        raised = item._excinfo[0]
    if raised is not None and "distance" not in answer:
        answer["distance"] = watch.until(raised.value)
    yield


def pytest_unconfigure(config: Any) -> None:
    """Write the result file."""
    Path(ASKED["result"]).write_text(json.dumps(answer), encoding="utf-8")
