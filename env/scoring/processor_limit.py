"""The time limit of a run of tests in processor time, which no program can stretch by making others wait.

The guest grants more time to programs that waited for a processor, because a busy machine is nobody's fault. It cannot
see what programs used that have ended unnoticed, so a fork bomb seems to wait for others while it waits for itself, and
lasted eight times its limit. The control group has the whole truth: whoever had as much processor time as an idle
machine would have given has not waited for others.
"""

from __future__ import annotations

import os
import signal
import threading
from types import TracebackType

from stackrank.env.sandbox.base import CHECK_EVERY_S
from stackrank.env.sandbox.client import CommandResult, Sandbox
from stackrank.env.task import Limits


class ProcessorLimit:
    """Halts a sandbox when a block takes longer than its time limit and has used all the processor time for it.

    Where processor time is not measured (no control groups), it does nothing.
    """

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self.exceeded = False
        """Whether the sandbox was halted for this reason."""
        self._sandbox = sandbox
        self._timeout_s = limits.timeout_s
        self.most_s = limits.timeout_s * min(limits.cpus, os.cpu_count() or 1)
        """The processor seconds that an idle machine gives within the time limit."""
        self._used_s = sandbox.used_s()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="processor-limit", daemon=True)

    def __enter__(self) -> ProcessorLimit:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def used_s(self) -> float:
        """Return the processor seconds that the sandbox used since the block began."""
        return self._sandbox.used_s() - self._used_s

    def _watch(self) -> None:
        pause_s = self._timeout_s
        while not self._over.wait(pause_s):
            if self.used_s() >= self.most_s:
                self.exceeded = True
                self._sandbox.halt()
                return
            pause_s = CHECK_EVERY_S


def ended_by_limit(timeout_s: float) -> CommandResult:
    """Return the result of a command whose sandbox was halted by a limit."""
    return CommandResult(
        exit=-signal.SIGKILL, output="", timed_out=True, waited_s=0.0, dropped=0, wall_ms=timeout_s * 1000
    )
