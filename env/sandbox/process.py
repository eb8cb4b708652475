"""Sandboxes that are processes on this machine, reached over their standard input and output."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Protocol

import psutil

from stackrank.env.sandbox.base import CHECK_EVERY_S, SandboxError
from stackrank.env.sandbox.bubblewrap.cgroups import Cgroup
from stackrank.env.sandbox.closer import ClosesOnce
from stackrank.env.sandbox.environments import PREFIXES
from stackrank.env.sandbox.factory import ForkedProcess
from stackrank.env.sandbox.guest.core.factory import MARK
from stackrank.host.programs import PIPE, TimeoutExpired, start_sandbox

OWNER_VARIABLE = MARK
"""Set in the environment of every sandbox process, so that `gc` finds those whose owner is dead."""

_MOST_ERRORS = 64 << 10
"""The most bytes of standard error that are kept: what a pipe holds."""


class ProcessHandle(Protocol):
    """The part of `programs.Process` that channels need."""

    pid: int

    @property
    def stdin(self) -> IO[bytes] | None:
        """The stream that the process reads."""
        ...

    @property
    def stdout(self) -> IO[bytes] | None:
        """The stream that the process writes to."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end. Returns the exit status if it can be known. Raises TimeoutExpired."""
        ...

    def kill(self) -> None:
        """Kill the process."""
        ...


Start = Callable[[IO[bytes]], ProcessHandle]
"""Starts a program whose standard error goes into the given file. Raises SandboxError."""


def starter(argv: list[str], env: Mapping[str, str], fds: Collection[int] = ()) -> Start:
    """Return a function that starts a program, which inherits the descriptors `fds`."""

    def start(errors: IO[bytes]) -> ProcessHandle:
        try:
            return start_sandbox(argv, env=env, stdin=PIPE, stdout=PIPE, stderr=errors, pass_fds=fds)
        except OSError as error:
            raise SandboxError(f"{argv[0]} cannot be started: {error.strerror}") from None

    return start


class ProcessChannel(ClosesOnce):
    """The channel to a guest that is a process on this machine. See `env.sandbox.base.Channel`."""

    def __init__(
        self,
        start: Start,
        name: str,
        *,
        root: str,
        guest_limits: dict[str, int],
        folder: Path | None = None,
        cgroup: Cgroup | None = None,
        prefixes: str = PREFIXES,
        shared: str,
    ) -> None:
        """Start the guest. The sandbox is named `name`-PID. `folder` and `cgroup` are removed when it ends."""
        super().__init__()
        self.root = root
        self.guest_limits = guest_limits
        self.prefixes = prefixes
        self.shared = shared
        self._folder = folder
        self._cgroup = cgroup
        # A pipe and not a file: what the guest writes there must not fill this machine's disk.
        errors, theirs = os.pipe()
        os.set_blocking(errors, False)
        self._errors = os.fdopen(errors, "rb", buffering=0)
        try:
            with os.fdopen(theirs, "wb", buffering=0) as stream:
                self._child = start(stream)
        except BaseException:
            self._errors.close()
            raise
        assert self._child.stdin is not None and self._child.stdout is not None
        self._in, self._out = self._child.stdin, self._child.stdout
        self.name = f"{name}-{self._child.pid}"
        if cgroup is not None:
            # This is early enough: the guest still waits for its code, so nothing runs yet.
            try:
                for pid in self._child.pids if isinstance(self._child, ForkedProcess) else (self._child.pid,):
                    cgroup.add(pid)
            except OSError as error:
                self.close()
                raise SandboxError(f"the limits of {self.name} cannot be set: {error}") from None

    @property
    def is_forked(self) -> bool:
        """Whether the guest was forked by a factory."""
        return isinstance(self._child, ForkedProcess)

    def send(self, data: bytes) -> None:
        """Write all of `data`."""
        view = memoryview(data)
        if self.closed:
            raise SandboxError(f"sandbox {self.name} was closed")
        try:
            while view:
                view = view[self._in.write(view) or 0 :]
        except (OSError, ValueError):
            raise self._lost() from None

    def receive(self, size: int, deadline: float) -> bytes:
        """Read 1 to `size` bytes."""
        while not select.select([self._out], [], [], max(min(deadline - time.monotonic(), CHECK_EVERY_S), 0))[0]:
            if time.monotonic() >= deadline:
                raise SandboxError(f"sandbox {self.name} does not answer")
            self._check()
        data = os.read(self._out.fileno(), size)
        if not data:
            raise self._lost()
        return data

    def _check(self) -> None:
        """Raise SandboxError if an answer can no longer come. A stopped process keeps its channel open."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._child.pid)
            # Bubblewrap's child is the guest. Without bubblewrap the process is the guest itself. Children of a forked
            # guest belong to the episode, and may stop themselves.
            guest = [] if isinstance(self._child, ForkedProcess) else process.children()
            for member in (process, *guest):
                if member.status() == psutil.STATUS_STOPPED:
                    raise SandboxError(f"sandbox {self.name} was stopped")

    def _lost(self) -> SandboxError:
        try:
            status = self._child.wait(timeout=2)
        except TimeoutExpired:
            return SandboxError(f"sandbox {self.name} closed its channel")
        errors = (self._errors.read(_MOST_ERRORS) or b"")[-600:].decode("utf-8", "replace").strip().replace("\n", " | ")
        exit_text = "ended" if status is None else f"ended with status {status}"
        return SandboxError(f"sandbox {self.name} {exit_text}{': ' + errors if errors else ''}")

    def used_s(self) -> float:
        """Return the processor seconds that its control group has used."""
        return 0.0 if self._cgroup is None else self._cgroup.used_s()

    def _end(self) -> None:
        """Disconnect, so that the guest and all its processes end."""
        self._in.close()
        try:
            self._child.wait(timeout=2)
        except TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._out.close()
        self._errors.close()
        if self._cgroup is not None:
            self._cgroup.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
