"""Record what tests on other inputs see of the program."""

from __future__ import annotations

import builtins
import hashlib
import re
import signal
import time
from typing import Any, Callable, Dict, List

from .processes import answer

Traces = Dict[str, List[str]]
"""Test -> the values that it saw, one after another, and how it ended."""
_ENDED, _RAISED = "the test ended", "the test raised"
_TEST_CPU_S, _TEST_S = 0.5, 2.0
"""Seconds of processor time and of time in all for a test; with the fix it has to need less than half of each."""

_WAITS = 4
"""A run may take this many times its processor time."""


class Probes:
    """Answers with the values that tests on other inputs see, or with the first difference from the known values."""

    def __init__(self, seconds: float, expected: Traces | None = None, *, compare: bool = False) -> None:
        """After `seconds` of processor time, no more tests run. If `known` is given, only its tests run."""
        self._seconds = seconds
        self._known = expected
        self._compare = compare
        self._until = 0.0
        self._traces: Traces = {}
        self._now: List[str] = []
        self._key = ""
        self._count: dict[str, int] = {}

    def see(self, *values: Any) -> None:
        self._now.extend(map(shown, values))

    def pytest_configure(self, config: Any) -> None:
        import pytest

        real = pytest.raises
        builtins.__stackrank_probe__ = self.see  # type: ignore[attr-defined]
        pytest.raises = lambda kind, *a, **k: real(kind, *a, **k) if a else _Raises(self.see, kind)  # type: ignore
        signal.signal(signal.SIGALRM, _too_long)
        signal.signal(signal.SIGVTALRM, _too_long)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> bool | None:
        self._until = self._until or time.monotonic() + _WAITS * self._seconds
        if time.process_time() > self._seconds or time.monotonic() > self._until:
            self.pytest_sessionfinish(item.session, 0)
        # Without parameters, whose ids may hold values of the program.
        name = f"{item.parent.nodeid}::{getattr(item, 'originalname', None) or item.name}"
        number = self._count[name] = self._count.get(name, 0) + 1
        self._key = f"{name} {number}"
        return None if self._known is None or self._key in self._known else True

    def pytest_runtest_setup(self, item: Any) -> None:
        self._now = []
        self._began = time.monotonic(), time.process_time()
        _limit(_TEST_CPU_S, _TEST_S)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if hasattr(report, "context"):
            return  # of a subtest: its test goes on
        _limit(*(_TEST_CPU_S, _TEST_S) if report.when == "setup" else (0, 0))
        if report.when == "call":
            self._end(_ENDED if report.passed else _RAISED)

    def _end(self, ending: str) -> None:
        trace = [*self._now, ending]
        if not (self._compare and self._known):
            wall, cpu = self._began
            quick = time.monotonic() - wall < _TEST_S / 2 and time.process_time() - cpu < _TEST_CPU_S / 2
            if quick and trace != [_RAISED]:
                self._traces[self._key] = trace
            return
        for at, value in enumerate(self._known[self._key]):
            if value == _RAISED:
                return  # a failure of the fix itself tells nothing
            if at >= len(trace) or trace[at] != value:
                test = self._key.rpartition(" ")[0]
                answer({"test": test, "fixed": value, "wrong": trace[at] if at < len(trace) else "nothing"})

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        answer(None if self._compare else self._traces)


def _limit(cpu_s: float, wall_s: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    signal.setitimer(signal.ITIMER_REAL, wall_s)


class _Raises:
    """A `pytest.raises` that records what is raised, and lets the test go on if nothing is raised."""

    def __init__(self, see: Callable[..., None], expected: Any) -> None:
        self._see = see
        self._expected = expected
        self.value: Any = None
        self.type: Any = None
        self.tb: Any = None

    def __enter__(self) -> _Raises:
        return self

    def __exit__(self, kind: Any, value: Any, tb: Any) -> bool:
        if value is not None and not isinstance(value, self._expected):
            return False
        self.type, self.value, self.tb = kind, value, tb
        self._see(kind.__name__ if value is not None else "nothing raised")
        return True

    def match(self, pattern: str) -> bool:
        return True


class _TooLong(BaseException):
    """A test on other inputs does not end."""


def _too_long(number: int, frame: Any) -> None:
    raise _TooLong()


def shown(value: Any, depth: int = 0) -> str:
    """Return a value as a text; two texts are equal if a test with `==` could not tell the values apart."""
    try:
        text = _shown(value, depth)
    except _TooLong:
        raise
    except BaseException as error:
        text = f"<{type(error).__name__}>"
    return text if len(text) < 2000 else f"{text[:400]}... {hash_of(text)}"


def hash_of(text: str) -> str:
    """Return a short hash of a text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _shown(value: Any, depth: int) -> str:
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.6g}"
    if type(value) in (bool, int, float):
        return repr(int(value)) if value == value and abs(value) != float("inf") else repr(value)
    if value is None or isinstance(value, (str, bytes)):
        return repr(value)
    if depth > 8:
        return "..."
    inner = [shown(element, depth + 1) for element in value] if isinstance(value, (list, tuple, set, frozenset)) else []
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(inner)) + "}"
    if isinstance(value, (list, tuple)):
        return ("[%s]" if isinstance(value, list) else "(%s)") % ", ".join(inner)
    if isinstance(value, dict):
        pairs = (f"{shown(key, depth + 1)}: {shown(element, depth + 1)}" for key, element in value.items())
        return "{" + ", ".join(sorted(pairs)) + "}"
    if isinstance(value, BaseException) or not _has_repr(type(value)):
        return f"<{type(value).__name__}>"
    return re.sub(r"\b0x[0-9A-Fa-f]+", "0x", repr(value))


def _has_repr(kind: type) -> bool:
    """Whether the class shows more of a value than its address in memory."""
    return any("__repr__" in vars(base) for base in kind.__mro__ if base is not object)
