"""Plugins that find out whether a test run passes, and what it calls."""

from __future__ import annotations

import ast
import functools
import os
import sys
from typing import Any, Callable

from .processes import answer


class Tries:
    """Answers with the number of tests if all that count pass, else with 0."""

    def __init__(self, must_pass: list[str], may_skip: list[str]) -> None:
        self._left = set(must_pass) | set(may_skip)
        self._all = not self._left
        self._may_skip = set(may_skip)
        self._count = 0

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and self._all:
            answer(0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        counts = self._all or report.nodeid in self._left
        self._count += report.when == "call"
        if report.failed and counts:
            answer(0)
        if (report.when == "call" and (report.passed or hasattr(report, "wasxfail"))) or (
            report.skipped and report.nodeid in self._may_skip
        ):
            self._left.discard(report.nodeid)

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        answer(0 if self._left or (self._all and exitstatus != 0) else self._count)


class Calls:
    """Records the calls of some functions, as far as arguments and result can be written as literals."""

    def __init__(self, functions: list[tuple[str, str, int]]) -> None:
        self._wanted = {(os.path.realpath(file), line): (file, name) for file, name, line in functions}
        self._calls: list[Any] = []
        self._real = functools.lru_cache(maxsize=None)(os.path.realpath)

    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> None:
        sys.settrace(self._trace)

    def _trace(self, frame: Any, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        function = self._wanted.get((self._real(code.co_filename), code.co_firstlineno))
        if function is None or code.co_flags & 0x2A0 or len(self._calls) > 60:  # generators and coroutines
            return None
        count = code.co_argcount + code.co_kwonlyargcount
        arguments = {name: literal(frame.f_locals.get(name)) for name in code.co_varnames[:count]}
        raised: list[str] = []

        def local(frame: Any, event: str, arg: Any) -> Any:
            if event == "exception":
                error = arg[1]
                is_builtin = isinstance(error, Exception) and type(error).__module__ == "builtins"
                raised[:] = [f"raise {type(error).__name__}({str(error)!r})" if is_builtin else ""]
            elif event == "return":
                value = literal(arg)
                result = raised[0] if raised and arg is None else f"return {value}" if value is not None else ""
                if result:
                    self._calls.append([*function, {k: v for k, v in arguments.items() if v is not None}, result])
            elif event == "line" and raised:
                raised.clear()  # it was caught
            return local

        return local

    def pytest_sessionfinish(self, session: Any, exitstatus: int) -> None:
        answer(self._calls)


def literal(value: Any) -> str | None:
    """Return the value as a Python literal, or None if it has no short one."""
    try:
        text = repr(value)
        return text if len(text) < 400 and ast.literal_eval(text) == value else None
    except Exception:
        return None
