"""Starts bubblewrap sandboxes: forked by a factory of the environment, or each started on its own."""

from __future__ import annotations

import functools
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from stackrank.env.sandbox.base import PROC_HIDDEN, PROC_READ_ONLY, SandboxError
from stackrank.env.sandbox.bootstrap import loader_command
from stackrank.env.sandbox.bubblewrap import unprivileged
from stackrank.env.sandbox.bubblewrap.mounts import proc
from stackrank.env.sandbox.factory import CannotFork, Factory
from stackrank.env.sandbox.guest.core.namespaces import SHARED_MEMORY
from stackrank.env.sandbox.process import OWNER_VARIABLE, ProcessHandle, starter
from stackrank.home import process_mark
from stackrank.host import programs

log = logging.getLogger(__name__)
ROOT = "/workspace"
_NAMESPACES = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
_USER = ("--unshare-user", "--uid", str(unprivileged.INSIDE), "--gid", str(unprivileged.INSIDE))
_PATIENCE = 3
"""How many forks in a row the kernel may refuse before this process stops trying."""
_KEPT = 4
"""Factories kept waiting at the same time, one per environment; each takes some 35 MB."""

# A sandbox may mount its own /proc only if nothing is mounted over parts of the factory's /proc.
_WHOLE_PROC = """
import ctypes
if ctypes.CDLL(None).mount(b"proc",b"/proc",b"proc",ctypes.c_ulong(14),None): raise OSError("mount /proc")
"""


@dataclass(frozen=True)
class HostView:
    """The parts of this machine that sandboxes of one environment see."""

    bwrap: str
    python: Path
    version: int
    """Differs if another environment was built at the same path."""
    mounts: tuple[str, ...]
    variables: tuple[tuple[str, str], ...]
    """Environment variables of every program in the sandbox."""
    ready: bool
    """Whether a Python started before the workspace was filled can import the same as one started afterwards."""

    @property
    def path(self) -> str:
        """The PATH of programs in the sandbox."""
        return f"{self.python.parent}:/usr/local/bin:/usr/bin:/bin"


class Factories:
    """The factories of this process, one per environment. Thread-safe."""

    def __init__(self) -> None:
        self._made: OrderedDict[HostView, Factory] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[HostView, threading.Lock] = {}
        self._process = os.getpid()
        self._refusals = 0

    def start(self, view: HostView, disk_mb: int, limits: Mapping[str, int], errors: IO[bytes]) -> ProcessHandle:
        """Start the guest of a new sandbox, by a fork if possible. Raises SandboxError."""
        new = False
        while self._refusals < _PATIENCE and not new:
            try:
                factory, new = self._get(view)
            except SandboxError as error:
                log.warning("a sandbox is started without a factory: %s", error)
                break
            files = {"root": ROOT, "disk": disk_mb << 20, "files": 0}
            room = {**files, "seal": False, "read_only": PROC_READ_ONLY, "hidden": PROC_HIDDEN}
            request: dict[str, Any] = {"room": room, "limits": dict(limits)}
            try:
                forked = factory.fork(request, errors.fileno())
            except CannotFork as error:
                log.warning("a sandbox is started anew, which takes more time, as it cannot be forked: %s", error)
                self._refusals += 1
                break
            except SandboxError as error:
                log.warning("a factory is replaced: %s", error)
                self._drop(view, factory)
            else:
                self._refusals = 0
                return forked
        return start_alone(view, disk_mb, errors)

    def _get(self, view: HostView) -> tuple[Factory, bool]:
        """Return a factory, and whether it is new."""
        with self._lock:
            if self._process != os.getpid():  # a fork of this process inherits the sockets, but must not use them
                self._made, self._making, self._process = OrderedDict(), {}, os.getpid()
            making = self._making.setdefault(view, threading.Lock())
        with making:
            with self._lock:
                if view in self._made:
                    self._made.move_to_end(view)
                    return self._made[view], False
            factory = start_factory(view)
            with self._lock:
                self._made[view] = factory
                surplus = [self._made.popitem(last=False)[1] for _ in range(len(self._made) - _KEPT)]
        for surplus_factory in surplus:
            surplus_factory.close()
        return factory, True

    def _drop(self, view: HostView, factory: Factory) -> None:
        with self._lock:
            if self._made.get(view) is factory:
                del self._made[view]
        factory.close()

    def all(self) -> list[Factory]:
        """Return all running factories."""
        with self._lock:
            return list(self._made.values())


def isolation_arguments(disk_mb: int) -> list[str]:
    """Return bwrap arguments that isolate a sandbox: namespaces, no capabilities, its own variables and folders."""
    size = str(disk_mb << 20)
    return [
        *_NAMESPACES, "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL",
        "--hostname", "sandbox", *proc(), "--dev", "/dev", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm",
        "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", ROOT, "--chdir", ROOT,
    ]  # fmt: skip


def start_alone(view: HostView, disk_mb: int, errors: IO[bytes]) -> ProcessHandle:
    """Start a sandbox with bwrap. Raises SandboxError."""
    argv = [*isolation_arguments(disk_mb), *view.mounts, "--setenv", "PATH", view.path]
    env = {"PATH": view.path, OWNER_VARIABLE: process_mark()}
    python = str(view.python)
    if not unprivileged.is_host_root():
        user = [*_USER, *_no_more_namespaces(view.bwrap)]
        return starter([view.bwrap, *user, *argv, "--", *loader_command(python)], env)(errors)
    with unprivileged.user_namespace() as namespace:
        user = unprivileged.namespace_arguments(namespace)
        first = unprivileged.become_user((ROOT, "/tmp", "/dev/shm"))
        return starter([view.bwrap, *argv, *user, "--", *loader_command(python, first)], env, (namespace,))(errors)


def start_factory(view: HostView) -> Factory:
    """Start a factory with bwrap: in the mounts of its environment, without writable folders.

    Process 1 is bwrap itself, so that the sandboxes do not end with the factory. Raises SandboxError.
    """
    argv = [
        *_NAMESPACES, "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "sandbox", "--proc", "/proc",
        "--dev", "/dev", "--dir", "/tmp", "--dir", ROOT, "--chdir", ROOT, *view.mounts, "--setenv", "PATH", view.path,
        "--setenv", OWNER_VARIABLE, process_mark(),
    ]  # fmt: skip
    env = {"PATH": view.path, OWNER_VARIABLE: process_mark()}
    first_words = {"env": dict(view.variables), "root": ROOT, "python": view.ready}
    start = functools.partial(Factory, env=env, first=first_words)
    python = str(view.python)
    if not unprivileged.is_host_root():
        return start([view.bwrap, *_USER, *argv, "--", *loader_command(python, program="factory")], fds=())
    with unprivileged.user_namespace() as namespace:
        user = [*unprivileged.namespace_arguments(namespace), "--cap-add", "CAP_SYS_ADMIN"]
        first = _WHOLE_PROC + unprivileged.become_user(())
        command = loader_command(python, first, program="factory")
        return start([view.bwrap, *argv, *user, "--", *command], fds=(namespace,))


@functools.cache
def _no_more_namespaces(bwrap: str) -> tuple[str, ...]:
    """Return the option against new namespaces. bubblewrap before 0.8 lacks it; the guest's filter forbids them too."""
    text = programs.run([bwrap, "--help"], merge=True).text
    return ("--disable-userns",) if "--disable-userns" in text else ()
