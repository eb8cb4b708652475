"""Starts bubblewrap sandboxes: forked by a factory of the environment, or each started on its own."""

from __future__ import annotations

import functools
import logging
import os
import subprocess
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
from stackrank.env.sandbox.process import OWNER_VARIABLE, Running, program
from stackrank.home import process_mark

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
class Place:
    """The parts of this machine that sandboxes of one environment see."""

    bwrap: str
    python: Path
    version: int
    """Differs if another environment was built in the same place."""
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
        self._made: OrderedDict[Place, Factory] = OrderedDict()
        self._lock = threading.Lock()
        self._making: dict[Place, threading.Lock] = {}
        self._process = os.getpid()
        self._refusals = 0

    def start(self, place: Place, disk_mb: int, limits: Mapping[str, int], errors: IO[bytes]) -> Running:
        """Start the guest of a new sandbox, by a fork if possible. Raises SandboxError."""
        new = False
        while self._refusals < _PATIENCE and not new:
            try:
                factory, new = self._get(place)
            except SandboxError as error:
                log.warning("a sandbox is started without a factory: %s", error)
                break
            room = {"root": ROOT, "disk": disk_mb << 20, "read_only": PROC_READ_ONLY, "hidden": PROC_HIDDEN}
            asked: dict[str, Any] = {"room": room, "limits": dict(limits)}
            try:
                forked = factory.fork(asked, errors.fileno())
            except CannotFork as error:
                log.warning("a sandbox is started anew, which takes more time, as it cannot be forked: %s", error)
                self._refusals += 1
                break
            except SandboxError as error:
                log.warning("a factory is replaced: %s", error)
                self._drop(place, factory)
            else:
                self._refusals = 0
                return forked
        return start_alone(place, disk_mb, errors)

    def _get(self, place: Place) -> tuple[Factory, bool]:
        """Return a factory, and whether it is new."""
        with self._lock:
            if self._process != os.getpid():  # a fork of this process inherits the sockets, but must not use them
                self._made, self._making, self._process = OrderedDict(), {}, os.getpid()
            making = self._making.setdefault(place, threading.Lock())
        with making:
            with self._lock:
                if place in self._made:
                    self._made.move_to_end(place)
                    return self._made[place], False
            made = start_factory(place)
            with self._lock:
                self._made[place] = made
                old = [self._made.popitem(last=False)[1] for _ in range(len(self._made) - _KEPT)]
        for each in old:
            each.close()
        return made, True

    def _drop(self, place: Place, factory: Factory) -> None:
        with self._lock:
            if self._made.get(place) is factory:
                del self._made[place]
        factory.close()

    def all(self) -> list[Factory]:
        """Return all running factories."""
        with self._lock:
            return list(self._made.values())


def isolation(disk_mb: int) -> list[str]:
    """Return bwrap arguments that isolate a sandbox: namespaces, no capabilities, its own variables and folders."""
    size = str(disk_mb << 20)
    return [
        *_NAMESPACES, "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL",
        "--hostname", "sandbox", *proc(), "--dev", "/dev", "--size", str(SHARED_MEMORY), "--tmpfs", "/dev/shm",
        "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", ROOT, "--chdir", ROOT,
    ]  # fmt: skip


def start_alone(place: Place, disk_mb: int, errors: IO[bytes]) -> Running:
    """Start a sandbox with bwrap. Raises SandboxError."""
    argv = [*isolation(disk_mb), *place.mounts, "--setenv", "PATH", place.path]
    env = {"PATH": place.path, OWNER_VARIABLE: process_mark()}
    python = str(place.python)
    if not unprivileged.needed():
        user = [*_USER, *_no_more_namespaces(place.bwrap)]
        return program([place.bwrap, *user, *argv, "--", *loader_command(python)], env)(errors)
    with unprivileged.user_namespace() as namespace:
        user = unprivileged.arguments(namespace)
        first = unprivileged.become_user((ROOT, "/tmp", "/dev/shm"))
        return program([place.bwrap, *argv, *user, "--", *loader_command(python, first)], env, (namespace,))(errors)


def start_factory(place: Place) -> Factory:
    """Start a factory with bwrap: in the mounts of its environment, without writable folders.

    Process 1 is bwrap itself, so that the sandboxes do not end with the factory. Raises SandboxError.
    """
    argv = [
        *_NAMESPACES, "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "sandbox", "--proc", "/proc",
        "--dev", "/dev", "--dir", "/tmp", "--dir", ROOT, "--chdir", ROOT, *place.mounts, "--setenv", "PATH", place.path,
        "--setenv", OWNER_VARIABLE, process_mark(),
    ]  # fmt: skip
    env = {"PATH": place.path, OWNER_VARIABLE: process_mark()}
    first_words = {"env": dict(place.variables), "root": ROOT, "python": place.ready}
    start = functools.partial(Factory, env=env, first=first_words)
    python = str(place.python)
    if not unprivileged.needed():
        return start([place.bwrap, *_USER, *argv, "--", *loader_command(python, program="factory")], fds=())
    with unprivileged.user_namespace() as namespace:
        user = [*unprivileged.arguments(namespace), "--cap-add", "CAP_SYS_ADMIN"]
        first = _WHOLE_PROC + unprivileged.become_user(())
        command = loader_command(python, first, program="factory")
        return start([place.bwrap, *argv, *user, "--", *command], fds=(namespace,))


@functools.cache
def _no_more_namespaces(bwrap: str) -> tuple[str, ...]:
    """Return the option against new namespaces. bubblewrap before 0.8 lacks it; the guest's filter forbids them too."""
    done = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    return ("--disable-userns",) if "--disable-userns" in done.stdout + done.stderr else ()
