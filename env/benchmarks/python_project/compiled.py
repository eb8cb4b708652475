"""Which part of a project is compiled: a change of it shows only once the environment is built anew."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import is_test

_COMPILED = re.compile(r"\.(c|cc|cpp|cxx|f|f90|h|hpp|pxd|pyx|rs)$")
_OF_TOOLS = ("setup.py", "noxfile.py", "conf.py", "conftest.py", "tasks.py")


def find_compiled(paths: Iterable[str]) -> str:
    """Return the first of these files that is compiled; empty if none is."""
    return next((path for path in sorted(paths) if _COMPILED.search(path)), "")


def require_python(name: str, paths: Iterable[str]) -> None:
    """Raise BenchmarkError if a project's program is compiled and has no file in Python that could be changed."""
    program = [path for path in paths if not is_test(path)]
    has_python = any(path.endswith(".py") and PurePosixPath(path).name not in _OF_TOOLS for path in program)
    if not has_python and (compiled := find_compiled(program)):
        raise BenchmarkError(
            f"{name} has no program in Python, only files that are compiled, such as {compiled}: name a project with "
            "Python files, or make tasks of its fixing commits with `stackrank init-task --toolchain`"
        )
