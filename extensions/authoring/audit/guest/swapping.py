"""Try changes of function bodies without importing the program again."""

from __future__ import annotations

import ast
import gc
import inspect
import os
import time
import types
from typing import Any

from .processes import Change, answer, fork, put


class Swapping:
    """Tries changes of function bodies in one pytest: the tests are collected once, and each change is tried in a fork.

    Answers with the result of each change; None for a change that has to be tried in a pytest of its own. The program
    is not imported again, so a change that passes has to be tried in a pytest of its own, too.
    """

    def __init__(self, fixed: Change, changes: list[Change], cpu_s: float, wall_s: float, until: float) -> None:
        self._fixed = fixed
        self._changes = changes
        self._limits = (cpu_s, wall_s)
        self._until = until

    def pytest_runtestloop(self, session: Any) -> None:
        compiled = {
            path: compile(text or "", path, "exec") for path, text in self._fixed.items() if is_python(path, text)
        }
        live = [candidate for candidate in gc.get_objects() if isinstance(candidate, types.FunctionType)]
        results: list[Any] = []
        for files in self._changes:
            swaps = self._swaps(files, compiled, live) if time.monotonic() < self._until else None
            if swaps is None:
                results.append(None)
                continue
            put(files)
            is_child, result = fork(*self._limits)
            if is_child:
                for function, code in swaps:
                    function.__code__ = code
                return  # the fork runs the tests
            results.append(result)
        answer(results)

    def _swaps(self, files: Change, compiled: dict[str, Any], live: list[Any]) -> list[tuple[Any, Any]] | None:
        swaps = []
        for path, text in files.items():
            old_text = self._fixed.get(path)
            if text == old_text:
                continue
            if not (
                text is not None and old_text is not None and path in compiled and frame_of(text) == frame_of(old_text)
            ):
                return None
            place = os.path.realpath(path)
            codes = dict(functions_of(compiled[path], compile(text, place, "exec")))
            for function in live:
                code = function.__code__
                new = codes.get((code.co_name, code.co_firstlineno))
                if new is None or os.path.realpath(code.co_filename) != place:
                    continue
                if len(new.co_freevars) != len(code.co_freevars):
                    return None
                swaps.append((function, new))
        return swaps


def is_python(path: str, text: str | None) -> bool:
    """Whether a file is a module that compiles."""
    try:
        return text is not None and path.endswith(".py") and bool(ast.parse(text))
    except SyntaxError:
        return False


def frame_of(source: str) -> str:
    """Dump a module without the bodies of its functions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = []
    return ast.dump(tree)


def functions_of(old: Any, new: Any) -> Any:
    """Yield ((name, first line) in the old module or class, code in the new one) of functions that are not nested."""
    inner = ([const for const in code.co_consts if isinstance(const, types.CodeType)] for code in (old, new))
    for old_code, new_code in zip(*inner):
        if old_code.co_flags & inspect.CO_NEWLOCALS:
            yield (old_code.co_name, old_code.co_firstlineno), new_code
        else:
            yield from functions_of(old_code, new_code)
