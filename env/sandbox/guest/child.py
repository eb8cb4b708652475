"""The programs that the guest starts. This module imports little, because each test run for a verdict waits for it."""

from __future__ import annotations

import importlib
from typing import List

_PACKAGE = __name__.rpartition(".")[0]
PROGRAMS = {
    "pytest": _PACKAGE + ".testing.pytest_child",
    "pdb": _PACKAGE + ".debugging.pdb.programs",
    "eval": _PACKAGE + ".debugging.observers.failing",
    "laboratory": _PACKAGE + ".debugging.observers.laboratory",
}
"""Name of a program -> the module whose `main` runs it."""


def child(argv: List[str]) -> int:
    """Run one of the programs that the guest starts. `argv` is [name, *arguments]."""
    if argv[0] == "warm":
        from .testing import warm

        argv = warm.main(argv[1:], PROGRAMS)
    elif argv[0] == "template":
        from .testing import template

        argv = template.main(argv[1:], PROGRAMS)
    status: int = importlib.import_module(PROGRAMS[argv[0]]).main(argv[1:])
    return status
