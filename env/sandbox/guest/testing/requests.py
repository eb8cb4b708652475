"""The requests that run tests."""

from __future__ import annotations

import os
from typing import Callable, Dict, List, NamedTuple, Optional

from ..core.processes import Child
from ..core.requests import CoreRequests, Reply, Request
from .commands import pytest_run

REPORT_LIMIT = 16 << 20
"""The most bytes of a test run's report that are passed on; the code under test can write there too."""
NO_VERDICT = {"score": False, "canaries": False, "every": False}
"""What a request asks for if no verdict depends on its run."""


class TestingRequests:
    """One method `do_NAME` for each request."""

    def __init__(self, core: CoreRequests) -> None:
        self._core = core

    def do_prepare(self, request: Request, body: bytes) -> Reply:
        """Have the warm Python ready before it is needed."""
        return {"warm": self._core.launcher.warm.prepare()}, b""

    def do_test(self, request: Request, body: bytes) -> Reply:
        """Run the test command. If it is pytest, `report` has its raw, authenticated lines."""
        return run_tests(self._core, request, body)


class TestProgram(NamedTuple):
    """A program that runs pytest in place of `pytest_child`, and what it reports in addition."""

    name: str
    arguments: List[str]
    """Its arguments before those of `pytest_child`."""
    report_fd: int
    """Where it reports. Closed when the program has been started."""
    watch: Dict[int, Callable[[bytes], None]]
    """The other end, and what takes the data."""


def run_tests(core: CoreRequests, request: Request, body: bytes, program: Optional[TestProgram] = None) -> Reply:
    """Run a test command, and answer as `do_test` does. A command that is not pytest runs as it is."""
    test_run = pytest_run(request["command"])
    if test_run is None:
        if program is not None:
            os.close(program.report_fd)
            for fd in program.watch:
                os.close(fd)
        reply, output = core.do_run(request, body)
        return {**reply, "report": None}, output
    launcher = core.launcher
    report_read, report_write = os.pipe()
    key_read = os.memfd_create("key")  # holds any size, unlike a pipe
    os.write(key_read, body)
    os.lseek(key_read, 0, os.SEEK_SET)
    chunks: List[bytes] = []

    def take(data: bytes) -> None:
        if sum(map(len, chunks)) < REPORT_LIMIT:
            chunks.append(data)

    score = request["score"]
    mode = "canaries" if request["canaries"] else "blind" if score or request["every"] else "shown"
    words = ["pytest"] if program is None else [program.name, *program.arguments]
    words += [mode, *test_run.arguments]
    words += ["--maxfail=0"] if request["every"] else []
    # Such a run has failures on purpose, and pytest's own tracebacks take longer than most tests.
    words += ["--tb=native"] if mode != "shown" else []
    # If nothing was forked yet, a forked process is as clean as one that is started.
    warm = test_run.is_plain and (not score or launcher.untouched)
    fds = (report_write,) if program is None else (report_write, program.report_fd)

    def start(output_fd: int) -> Child:
        try:
            return launcher.own(
                words,
                key_read,
                output_fd,
                fds,
                warm=warm,
                folder=test_run.folder,
                variables=test_run.variables,
                expected=not score,
            )
        finally:
            for fd in (*fds, key_read):
                os.close(fd)

    watch = {report_read: take, **(program.watch if program is not None else {})}
    reply, output = launcher.run(start, request, watch)
    reply["changed_files"] = [] if score else core.workspace.news()
    reply["report"] = b"".join(chunks).decode("ascii", "replace")
    return reply, output
