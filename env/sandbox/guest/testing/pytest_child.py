"""Runs pytest in the sandbox and reports each test's result over a private descriptor.

The report is read by `env.scoring.report`. pytest and this module are imported before anything of the workspace can be;
results are taken from the exception that a test raised, not from what later hooks make of it; and every record carries
a keyed hash and a running number. All this makes forging harder; `env.scoring.blind` makes it useless.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import importlib
import json
import os
import sys
import threading
import time
import types
import unittest
import weakref
from typing import Any, Callable, Dict, Generator, List, Optional, Sequence, Set

from ..core.framing import take_input
from ..core.messages import message
from .answers import Asked, classes
from .integrity import EVENT, install, is_code_of
from .prepared import plugin as searched
from .prepared import prepared
from .shadows import forget_shadowed


def reporter(key: bytes, mode: str, suspects: List[str]) -> Any:
    """Make the plug-in that reports. `mode`: see `main`.

    With canaries, it adds tests that must fail, after all others; if one passes, failures are being suppressed.
    `suspects`: files that may neither skip a test nor expect it to fail.
    """
    import pytest

    audit, clock, digest = sys.audit, time.perf_counter, hashlib.sha256
    doubtful = {os.path.realpath(path) for path in suspects}
    canaries = mode == "canaries"
    false: Dict[str, str] = {}
    collected_ids: List[str] = []
    asked = Asked()
    asked.install()

    class Canary(pytest.Item):
        def __init__(self, check: Callable[[], None], **options: Any) -> None:
            super().__init__(**options)
            self._check = check

        def runtest(self) -> None:
            self._check()

    def make_canaries(session: Any) -> List[Any]:
        # Add them to the tests of the last file, and let them run like those, if possible.
        module = session.items[-1].parent if session.items else None
        canary_items: List[Any] = []
        for name, check in must_fail(pytest).items():
            hidden = "test_" + digest(key + name.encode()).hexdigest()[:12]
            if isinstance(module, pytest.Module):
                canary_items.append(pytest.Function.from_parent(module, name=hidden, callobj=check))
            else:
                canary_items.append(Canary.from_parent(session, name=hidden, check=check))
            # Formatting a traceback takes longer than most tests, and nobody reads these.
            canary_items[-1].repr_failure = lambda excinfo: message("fails, as it must")
            false[canary_items[-1].nodeid] = name
        return canary_items

    class Reporter:
        def pytest_itemcollected(self, item: Any) -> None:
            collected_ids.append(item.nodeid)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection(self, session: Any) -> Generator[None, Any, None]:
            yield
            items = list(getattr(session, "items", []))
            # In the order of the files, even if plug-ins changed it.
            order = {test: number for number, test in enumerate(collected_ids)}
            audit(EVENT, {"collected": sorted((item.nodeid for item in items), key=lambda test: order.get(test, -1))})
            if canaries and items:
                session.items += make_canaries(session)
                session.testscollected = len(session.items)

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_makereport(self, item: Any, call: Any) -> Generator[None, Any, None]:
            # Outermost wrapper: the exception is read before any other hook has seen it.
            raised = call.excinfo
            if raised is None and getattr(item, "_excinfo", None):
                # unittest catches what its tests raise; pytest keeps that here until its own hook, which runs later.
                raised = item._excinfo[0]
            error = raised.value if raised is not None else None
            started = clock()
            outcome = yield
            report = outcome.get_result()
            record = {
                "test": item.nodeid,
                "canary": item.nodeid in false,
                "when": call.when,
                "outcome": _outcome(error),
                "xfail": bool(hasattr(report, "wasxfail")) and not _by_suspects(error, pytest.xfail.Exception),
                "reported": report.outcome,
                "seconds": round(call.duration, 4),
                "message": _message(error),
                "assertion": isinstance(error, AssertionError),
                "lines": _lines(error, str(item.path if hasattr(item, "path") else item.fspath)),
                "answers": asked.take() + _raised(error),
                "at": started,
            }
            audit(EVENT, record)

        def pytest_collectreport(self, report: Any) -> None:
            if report.failed:
                audit(EVENT, {"collect_error": report.nodeid, "message": str(report.longrepr)[-2000:]})

    def _outcome(error: Optional[BaseException]) -> str:
        if error is None:
            return "passed"
        skips = (pytest.skip.Exception, unittest.SkipTest)
        return "skipped" if isinstance(error, skips) and not _by_suspects(error, skips) else "failed"

    def _by_suspects(error: Optional[BaseException], kind: Any) -> bool:
        trace = error.__traceback__ if isinstance(error, kind) else None
        while trace is not None and not is_code_of(doubtful, trace.tb_frame):
            trace = trace.tb_next
        return trace is not None

    def _message(error: Optional[BaseException]) -> str:
        if error is None:
            return ""
        try:
            return ("%s: %s" % (type(error).__name__, error))[:500]
        except Exception:
            return type(error).__name__

    def _lines(error: Optional[BaseException], file: str) -> List[int]:
        """Return the lines of the test's own file that led to where the exception was raised."""
        lines: List[int] = []
        trace = error.__traceback__ if error is not None else None
        while trace is not None and len(lines) < 20:
            if trace.tb_frame.f_code.co_filename == file:
                lines.append(trace.tb_lineno)
            trace = trace.tb_next
        return lines

    def _raised(error: Optional[BaseException]) -> List[str]:
        """Return the classes of an exception that ended a test, as an answer."""
        return [] if error is None else ["0 ! " + classes(error)]

    return Reporter()


def must_fail(pytest: Any) -> Dict[str, Callable[[], None]]:
    """Return checks that fail if the machinery that judges tests is sound."""

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


def preload() -> None:
    """Import what pytest would import before it looks at the workspace. Raises ImportError if there is no pytest."""
    import _pytest.config

    for name in _pytest.config.default_plugins:
        importlib.import_module("_pytest." + name)
    for name in ("pdb", "_pytest.assertion.rewrite"):
        importlib.import_module(name)
    importlib.import_module(".pytest_determinism", __package__)


def main(argv: List[str], plugins: Sequence[Any] = ()) -> int:
    """Run pytest: `argv` is [report descriptor, mode, *pytest arguments]. `plugins`: further plug-ins of pytest.

    The mode is `shown` if an agent sees the result, and `blind` or `canaries` (see `reporter`) for a verdict.

    Standard input holds a key of 32 bytes, then a JSON list of the files that somebody other than the task wrote.
    """
    fd, mode = int(argv[0]), argv[1]
    setup = take_input()
    key, suspects = setup[:32], json.loads(setup[32:] or b"[]")
    os.set_inheritable(fd, False)
    gc.disable()
    # Before the workspace is on the path, so that none of its modules can replace one that judges.
    try:
        preload()
        import pytest

        from . import pytest_determinism
    except ImportError as error:
        print(message("python: No module named %s" % (error.name or "pytest").lstrip("_")))
        return 1
    # pytest collects garbage at the end, and would go through all these objects for nothing.
    gc.freeze()
    gc.enable()
    sys.path[0] = os.getcwd()
    sys.argv = ["pytest", *argv[2:]]
    preloaded = set(sys.modules)
    install(fd, key, suspects, sys._getframe())
    plugin = reporter(key, mode, suspects)
    del setup, key
    forget_shadowed(sys.path[0])
    with prepared(argv[2:]):
        status = int(pytest.main(argv[2:], plugins=[plugin, pytest_determinism, *searched(), *plugins]))
    sys.audit(EVENT, {"finished": status})
    _leave(status, set(sys.modules) - preloaded if mode == "shown" else set())
    return status


def _leave(status: int, modules: Set[str]) -> None:
    """End this process as Python would, but take only some modules apart: all of them take longer than most tests.

    `modules`: those whose objects are finalized, so that open files are completed and `__del__` is called. A verdict's
    run has none: nobody sees what it leaves behind.
    """
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads; Python's own end has no public name
    atexit._run_exitfuncs()
    if modules:
        _finalize(modules)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


def _finalize(names: Set[str]) -> None:
    """Finalize the objects of modules in Python's order: first what nothing else refers to, with its globals intact."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):  # which refer to the frames of a failure
        vars(sys).pop(name, None)
    loaded = [name for name in sys.modules if name in names and isinstance(sys.modules[name], types.ModuleType)]
    leaving = [weakref.ref(sys.modules.pop(name)) for name in loaded]
    gc.collect()
    for reference in reversed(leaving):
        module = reference()
        if module is not None:
            vars(module).clear()
    gc.collect()
