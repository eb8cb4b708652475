"""Interprets a command line as the program to debug."""

from __future__ import annotations

import os
import re
import shlex
from typing import List, Optional

from ..core.files import Refused
from ..testing.commands import PYTHON, pytest_arguments, words
from .pdb.batch import compiles

_FLAGS = ("-B", "-u", "-E", "-s", "-I", "-O")
_CODE = re.compile(r"\s*(?:\S*python[\d.]*\s+)?-c\s+")


def entry_point(command: str) -> List[str]:
    """Return what a command line says to debug: pytest, ids of tests, `python -m module`, `-c code` or a script.

    Raises Refused.
    """
    arguments = pytest_arguments(command)
    if arguments is not None:
        return ["pytest", *arguments]
    code = _CODE.match(command)
    found = _split(command) if code else words(command)
    if found and PYTHON.fullmatch(os.path.basename(found[0])) and len(found) > 1:
        found = found[1:]
        while len(found) > 1 and found[0] in _FLAGS:
            found = found[1:]
        if found[:2] == ["-m", "pdb"]:
            found = found[2:]
            while len(found) > 1 and found[0] == "-c":  # commands for pdb, not code
                found = found[2:]
    if code and found and len(found) > 1:
        # The code may lack its quotes, although nobody would write it so for a shell.
        rest = command[code.end() :].strip()
        return ["-c", rest] if len(found) > 2 and not compiles(found[1]) and compiles(rest) else found
    if found and all("::" in each or each == "-q" for each in found):
        return ["pytest", *found]
    if found and ((found[0] == "-m" and len(found) > 1) or found[0].endswith(".py")):
        return found
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
