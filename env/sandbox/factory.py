"""The host's side of a factory, a program that forks sandboxes of one environment; see the guest's `factory`."""

from __future__ import annotations

import array
import contextlib
import json
import os
import select
import signal
import socket
import tempfile
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from stackrank.env.sandbox.base import SandboxError
from stackrank.env.sandbox.bootstrap import guest_code
from stackrank.env.sandbox.bubblewrap import cgroups
from stackrank.env.sandbox.guest.core.factory import GUEST, PYTHON, ForkFailed, await_processes
from stackrank.host.programs import DEVNULL, TimeoutExpired, start_sandbox

_START_PATIENCE_S = 60.0


class CannotFork(SandboxError):
    """This machine does not let a factory fork sandboxes. The message says why."""


class ForkedProcess:
    """The first process of a forked sandbox. It is not a child of this process. See `process.ProcessHandle`.

    `pids`: all processes that were forked into the sandbox.
    """

    def __init__(self, pids: Mapping[bytes, int], stdin: int, stdout: int) -> None:
        """Raises OSError if the process has ended."""
        self.pid = pids[GUEST]
        self.pids = tuple(pids.values())
        self._fd = os.pidfd_open(self.pid)
        self.stdin: BinaryIO = os.fdopen(stdin, "wb", 0)
        self.stdout: BinaryIO = os.fdopen(stdout, "rb", 0)

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the process ends. Raises TimeoutExpired."""
        poller = select.poll()
        poller.register(self._fd, select.POLLIN)
        if not poller.poll(None if timeout is None else timeout * 1000):
            raise TimeoutExpired("sandbox", timeout or 0)

    def kill(self) -> None:
        """Kill the process, and with it every process of its sandbox."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._fd, signal.SIGKILL)

    def __del__(self) -> None:
        with contextlib.suppress(AttributeError, OSError):
            os.close(self._fd)


class Factory:
    """Forks sandboxes. Thread-safe."""

    def __init__(
        self, argv: list[str], *, fds: tuple[int, ...], env: Mapping[str, str], first: Mapping[str, Any]
    ) -> None:
        """Start `argv` with the environment `env`. For `first`, see the guest's `factory.main`. Raises SandboxError."""
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        try:
            self._program = start_sandbox(
                argv, env=env, stdin=theirs.fileno(), stdout=DEVNULL, stderr=self._errors, pass_fds=fds
            )
        except OSError as error:
            ours.close()
            self._errors.close()
            raise SandboxError(f"{argv[0]} cannot be started: {error.strerror}") from None
        finally:
            theirs.close()
        self._control = ours
        self.pid = self._program.pid
        self._group: cgroups.Cgroup | None = None
        try:
            ours.settimeout(_START_PATIENCE_S)
            ours.sendall(guest_code())
            ours.sendall(json.dumps(first).encode())
            greeting = ours.recv(4096)
            if not greeting:
                raise OSError(self._complaint())
            self.has_python: bool = json.loads(greeting)["python"]
            self._group = cgroups.factories_cgroup()
            if self._group is not None:
                self._group.add(self.pid)
        except OSError as error:
            self.close()
            raise SandboxError(f"the factory of sandboxes does not start: {error}") from None

    def fork(self, request: Mapping[str, Any], errors: int) -> ForkedProcess:
        """Fork a sandbox. `request`: see the guest's `factory.main`. `errors`: descriptor for its guest's standard
        error.

        Raises CannotFork, and SandboxError if the factory is gone.
        """
        if self._group is not None:
            self._group.expect(self.pid)
        for_guest, stdin = os.pipe()
        stdout, from_guest = os.pipe()
        receiver, sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        programs = {GUEST, PYTHON} if self.has_python else {GUEST}
        try:
            with receiver:
                try:
                    fds = array.array("i", [for_guest, from_guest, errors, sender.fileno()])
                    with self._lock:
                        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds.tobytes())]
                        self._control.sendmsg([json.dumps(request).encode()], rights)
                finally:
                    sender.close()
                    os.close(for_guest)
                    os.close(from_guest)
                return ForkedProcess(await_processes(receiver, programs), stdin, stdout)
        except BaseException as error:
            os.close(stdin)
            os.close(stdout)
            if isinstance(error, ForkFailed):
                raise CannotFork(str(error)) from None
            if isinstance(error, OSError):
                raise SandboxError(f"the factory of sandboxes is gone: {error}") from None
            raise

    def close(self) -> None:
        """End the factory. Its sandboxes live on."""
        self._control.close()
        threading.Thread(target=self._clean_up, name="factory-close", daemon=True).start()

    def _clean_up(self) -> None:
        # The factory stays until its last sandbox ends, to collect ended processes.
        self._program.wait()
        self._errors.close()

    def _complaint(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-600:].decode("utf-8", "replace").strip().replace("\n", " | ") or "it ended"
