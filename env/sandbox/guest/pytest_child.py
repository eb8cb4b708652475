"""Runs pytest in the sandbox and reports each test's result over a private descriptor.

The report is read by `env.scoring`, which says what it stands against. In short: pytest and this module are imported
before anything of the workspace can be; results are taken from the exception a test raised, not from what later
hooks make of it; every record carries a keyed hash and a running number; and the machinery that judges a test
(builtins, unittest, pytest, pluggy) is compared at the end with what it was at the start.
"""

from __future__ import annotations

import builtins
import hashlib
import hmac
import json
import os
import sys
import time
import types
import unittest
import unittest.case
from typing import Any, Callable, Dict, Generator, List, Optional

from .shadows import forget_shadowed

GUARDED = ("_pytest", "pytest", "pluggy", "unittest", "builtins")


def reporter(fd: int, key: bytes, canaries: bool, on_stop: Callable[[], List[str]]) -> Any:
    """The plugin. `on_stop` is asked at the end of the session for signs of tampering.

    `canaries`: add tests that must fail, after all others; one that passes tells that failures are suppressed.
    """
    import pytest

    sequence = 0
    write, mac, dumps, clock = os.write, hmac.new, json.dumps, time.perf_counter

    def emit(record: Dict[str, Any]) -> None:
        nonlocal sequence
        record["seq"] = sequence
        sequence += 1
        text = dumps(record)
        data = memoryview(("%s %s\n" % (mac(key, text.encode(), hashlib.sha256).hexdigest(), text)).encode())
        while data:
            data = data[write(fd, data) :]

    class Canary(pytest.Item):
        def __init__(self, check: Callable[[], None], **options: Any) -> None:
            super().__init__(**options)
            self._check = check

        def runtest(self) -> None:
            self._check()

    class Reporter:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection(self, session: Any) -> Generator[None, Any, None]:
            yield
            emit({"collected": [item.nodeid for item in getattr(session, "items", [])]})
            if canaries:
                session.items += [
                    Canary.from_parent(session, name=hashlib.sha256(key + name.encode()).hexdigest()[:12], check=check)
                    for name, check in must_fail(pytest).items()
                ]
                session.testscollected = len(session.items)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
            # Outermost wrapper: the exception is read before any other hook has seen it.
            error = call.excinfo.value if call.excinfo is not None else None
            started = clock()
            outcome = yield
            report = outcome.get_result()
            emit(
                {
                    "test": item.nodeid,
                    "canary": isinstance(item, Canary),
                    "when": call.when,
                    "outcome": _outcome(error),
                    "xfail": bool(hasattr(report, "wasxfail")),
                    "reported": report.outcome,
                    "seconds": round(call.duration, 4),
                    "message": _message(error),
                    "at": started,
                }
            )

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                emit({"collect_error": report.nodeid, "message": str(report.longrepr)[-2000:]})

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_sessionfinish(self, session: Any, exitstatus: Any) -> Generator[None, Any, None]:
            yield
            emit({"finished": int(exitstatus), "tampered": on_stop()})

    def _outcome(error: Optional[BaseException]) -> str:
        if error is None:
            return "passed"
        return "skipped" if isinstance(error, (pytest.skip.Exception, unittest.SkipTest)) else "failed"

    def _message(error: Optional[BaseException]) -> str:
        if error is None:
            return ""
        try:
            return ("%s: %s" % (type(error).__name__, error))[:500]
        except Exception:
            return type(error).__name__

    return Reporter()


def must_fail(pytest: Any) -> Dict[str, Callable[[], None]]:
    """Checks that fail wherever the machinery that judges tests is sound."""

    def plain_assert() -> None:
        assert sum((1, 1)) == 3

    def raised() -> None:
        raise ValueError("expected")

    def unittest_equal() -> None:
        unittest.TestCase().assertEqual(1, 2)

    def unittest_true() -> None:
        unittest.TestCase().assertTrue([])

    def unittest_raises() -> None:
        with unittest.TestCase().assertRaises(KeyError):
            pass

    def pytest_raises() -> None:
        with pytest.raises(KeyError):
            pass

    def pytest_approx() -> None:
        assert pytest.approx(2.0) == 1.0

    def pytest_fail() -> None:
        pytest.fail("expected")

    checks = (plain_assert, raised, unittest_equal, unittest_true, unittest_raises)
    return {check.__name__: check for check in (*checks, pytest_raises, pytest_approx, pytest_fail)}


def fingerprint() -> Dict[str, int]:
    """The identity of every function and class of the machinery that judges tests: name -> id."""
    marks: Dict[str, int] = {}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] not in GUARDED or not isinstance(module, types.ModuleType):
            continue
        for attribute, value in list(vars(module).items()):
            if attribute.startswith("__") and name != "builtins":
                continue
            where = "%s.%s" % (name, attribute)
            if isinstance(value, type):
                marks[where] = id(value)
                if value.__module__.split(".")[0] in GUARDED and value.__module__ != "builtins":
                    for member, inner in list(vars(value).items()):
                        if isinstance(inner, (types.FunctionType, classmethod, staticmethod, property)):
                            marks["%s.%s" % (where, member)] = id(inner)
                            _mark_code(marks, "%s.%s" % (where, member), inner)
            elif callable(value):
                marks[where] = id(value)
                _mark_code(marks, where, value)
    return marks


def _mark_code(marks: Dict[str, int], where: str, value: Any) -> None:
    function = value.__func__ if isinstance(value, (classmethod, staticmethod, types.MethodType)) else value
    if isinstance(function, types.FunctionType):
        marks[where + ".__code__"] = id(function.__code__)


def changed(before: Dict[str, int]) -> List[str]:
    """Names whose object is no longer what it was. What came new is not a change."""
    after = fingerprint()
    return [name for name, mark in before.items() if after.get(name) != mark and not _benign(name)][:20]


def _benign(name: str) -> bool:
    """Whether pytest itself made the change: its `legacypath` plugin patches pytest's own classes."""
    _module, _, rest = name.partition(".Config.")
    value = getattr(sys.modules["_pytest.config"].Config, rest.replace(".__code__", ""), None) if rest else None
    return getattr(value, "__module__", "") == "_pytest.legacypath"


def main(argv: List[str]) -> int:
    """Run pytest: `argv` is [report descriptor, "score" or "show", *pytest arguments]; the key is standard input."""
    fd, mode = int(argv[0]), argv[1]
    key = os.read(0, 64)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.set_inheritable(fd, False)
    # Before the workspace is on the path, so that no module of its can take the place of one that judges.
    try:
        import unittest.mock  # noqa: F401

        import _pytest.assertion.rewrite
        import _pytest.unittest
        import pytest
    except ImportError as error:
        print("python: %s" % error.msg)
        return 1
    assert builtins and _pytest.assertion.rewrite and _pytest.unittest
    before = fingerprint()
    sys.path[0] = os.getcwd()
    forget_shadowed(sys.path[0])
    sys.argv = ["pytest", *argv[2:]]
    plugin = reporter(fd, key, mode == "score", lambda: changed(before))
    return int(pytest.main(argv[2:], plugins=[plugin]))
