"""Runs pytest as `testing.pytest_child` does, and reports where the program stood at its failures.

This is the run that an agent sees, never one for a verdict. What is reported of a failure is what `snapshot` reports,
by the same code: it reads attributes and runs no method of the program's own objects.
"""

from __future__ import annotations

from typing import Any, List, Set, Tuple

from ...testing import pytest_child
from ..exceptions import reported_error
from ..places import Names
from .report_stream import Report, Storyteller
from .tracing import Own

MOST = 8
"""The most failures that are reported. Those at the same place count once."""


def main(argv: List[str]) -> int:
    """`argv` is [the two report descriptors, root, *what follows the descriptor in `pytest_child.main`]."""
    results_fd, failures_fd = argv[0].split(",")
    report = Report(int(failures_fd))
    teller = Storyteller(Own(argv[1]), Names(), report)
    return pytest_child.main([results_fd, *argv[2:]], [Failing(teller)])


class Failing:
    """A plug-in of pytest that reports the first failures at different places."""

    def __init__(self, teller: Storyteller) -> None:
        self._teller = teller
        self._places: Set[Tuple[str, str, int]] = set()

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        """Report a failure with its frames, as they were left, and those of its causes."""
        error = reported_error(call.excinfo.value)
        place = self._place(error)
        if len(self._places) < MOST and place not in self._places:
            self._places.add(place)
            self._teller.failure(node.nodeid, error, None)

    def _place(self, error: BaseException) -> Tuple[str, str, int]:
        """Return the kind of the exception, and file and line of the last frame in the workspace."""
        kind, file, line = type(error).__name__, "", 0
        trace = error.__traceback__
        while trace is not None:
            if self._teller.own(trace.tb_frame.f_code.co_filename):
                file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno or 0
            trace = trace.tb_next
        return kind, file, line
