"""Interprets a command line as the program to debug."""

from __future__ import annotations

import functools
import os
import re
import shlex
from typing import Dict, List, NamedTuple, Optional

from ..core.files import Refused
from ..testing.commands import PYTHON, pytest_arguments, pytest_run, words
from .pdb.batch import compiles

_FLAGS = ("-B", "-u", "-E", "-s", "-I", "-O")
_CODE = re.compile(r"\s*(?:\S*python[\d.]*\s+)?-c\s+")


class Program(NamedTuple):
    """What a command line says to debug, and where."""

    entry: List[str]
    folder: str
    """Relative to the workspace."""
    variables: Dict[str, str]


def program_of(command: str) -> Program:
    """Return the program of a command line, which may set a folder and variables if it runs pytest. Raises Refused."""
    run = pytest_run(command)
    if run is None:
        return Program(entry_point(command), ".", {})
    return Program(["pytest", *run.arguments], run.folder, run.variables)


def entry_point(command: str) -> List[str]:
    """Return what a command line says to debug: pytest, ids of tests, `python -m module`, `-c code` or a script.

    Raises Refused.
    """
    return list(_interpret(command))


@functools.lru_cache(maxsize=64)  # each step of a debugger names its program again
def _interpret(command: str) -> List[str]:
    arguments = pytest_arguments(command)
    if arguments is not None:
        return ["pytest", *arguments]
    code = _CODE.match(command)
    parts = _split(command) if code else words(command)
    if parts and PYTHON.fullmatch(os.path.basename(parts[0])) and len(parts) > 1:
        parts = parts[1:]
        while len(parts) > 1 and parts[0] in _FLAGS:
            parts = parts[1:]
        if parts[:2] == ["-m", "pdb"]:
            parts = parts[2:]
            while len(parts) > 1 and parts[0] == "-c":  # commands for pdb, not code
                parts = parts[2:]
    if code and parts and len(parts) > 1:
        # The code may lack its quotes, although nobody would write it so for a shell.
        code_text = command[code.end() :].strip()
        return ["-c", code_text] if len(parts) > 2 and not compiles(parts[1]) and compiles(code_text) else parts
    if parts and all("::" in part or part == "-q" for part in parts):
        return ["pytest", *parts]
    if parts and ((parts[0] == "-m" and len(parts) > 1) or parts[0].endswith(".py")):
        return parts
    raise Refused(
        "%r cannot be debugged: name a Python program, as in `tests/test_x.py::test_y`, "
        "`python -m pytest tests/test_x.py`, `python script.py arguments`, `python -m module arguments` "
        "or `python -c 'code'`" % command
    )


def _split(command: str) -> Optional[List[str]]:
    try:
        return shlex.split(command)
    except ValueError:
        return None
