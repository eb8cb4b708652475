"""The requests that run tests."""

from __future__ import annotations

import os
from typing import List

from ..core.processes import Child
from ..core.requests import CoreRequests, Reply, Request
from .commands import pytest_run

REPORT_LIMIT = 16 << 20
"""The most bytes of a test run's report that are passed on; the code under test can write there too."""


class TestingRequests:
    """One method `do_NAME` for each request."""

    def __init__(self, core: CoreRequests) -> None:
        self._core = core

    def do_prepare(self, request: Request, body: bytes) -> Reply:
        """Have the warm Python ready before it is needed."""
        return {"warm": self._core.launcher.warm.prepare()}, b""

    def do_test(self, request: Request, body: bytes) -> Reply:
        """Run the test command. If it is pytest, `report` has its raw, authenticated lines."""
        test_run = pytest_run(request["command"])
        if test_run is None:
            reply, output = self._core.do_run(request, body)
            return {**reply, "report": None}, output
        launcher = self._core.launcher
        report_read, report_write = os.pipe()
        key_read = os.memfd_create("key")  # holds any size, unlike a pipe
        os.write(key_read, body)
        os.lseek(key_read, 0, os.SEEK_SET)
        chunks: List[bytes] = []

        def take(data: bytes) -> None:
            if sum(map(len, chunks)) < REPORT_LIMIT:
                chunks.append(data)

        score = request["score"]
        mode = "canaries" if request["canaries"] else "blind" if score else "shown"
        program = ["pytest", str(report_write), mode, *test_run.arguments]
        program += ["--maxfail=0"] if request["every"] else []
        # A blind run has failures on purpose, and pytest's own tracebacks take longer than most tests.
        program += ["--tb=native"] if score else []
        # If nothing was forked yet, a forked process is as clean as one that is started.
        warm = test_run.is_plain and (not score or launcher.untouched)

        def start(output_fd: int) -> Child:
            try:
                return launcher.own(
                    program,
                    key_read,
                    output_fd,
                    report_write,
                    warm=warm,
                    folder=test_run.folder,
                    variables=test_run.variables,
                    expected=not score,
                )
            finally:
                os.close(report_write)
                os.close(key_read)

        reply, output = launcher.run(start, request, {report_read: take})
        reply["changed_files"] = [] if score else self._core.workspace.news()
        reply["report"] = b"".join(chunks).decode("ascii", "replace")
        return reply, output
