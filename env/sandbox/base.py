"""What every sandbox backend agrees on."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import psutil

from env.environment import Environment
from env.task import Limits, Task


class SandboxError(Exception):
    """The infrastructure failed: the sandbox cannot be started, died, or does not answer. Never the agent's fault."""


class BuildError(SandboxError):
    """An environment cannot be built. Trying again does not help; other tasks are not concerned."""


class GuestBug(RuntimeError):
    """Our own fault inside a sandbox; carries the traceback. Neither the agent's doing nor the infrastructure's."""


class Refused(Exception):
    """The sandbox is well, and what was asked cannot be done; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What sandbox is wanted. Sandboxes of equal specification are interchangeable before they are used."""

    image: str | None = None
    """Container image; None for the backend's own. Backends without images refuse one."""
    environment: Environment | None = None
    """What has to be installed on top of that; built by the backend where it is not there yet."""
    limits: Limits = field(default_factory=Limits)
    warm: bool = True
    """Whether a pool has it ready to fork test runs; a verdict's run is a process of its own and has no use for it."""
    labels: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Put on the sandbox for people and tools to see, such as ("stackrank.run", "12"); one from a pool has none."""


def spec_for(task: Task, *, warm: bool = True) -> SandboxSpec:
    """The sandbox that a task wants."""
    return SandboxSpec(image=task.image, environment=task.environment, limits=task.limits, warm=warm)


Say = Callable[[str], None]


def silent(message: str) -> None:
    """Says nothing."""


class Channel(Protocol):
    """Bytes to and from one resident guest. Used by one thread at a time."""

    root: str
    """The workspace's path inside the sandbox."""
    name: str
    """What the sandbox is called where it runs, for messages."""
    guest_limits: dict[str, int]
    """Limits that the guest has to set on what it starts: `max_memory` (bytes of address space), `max_processes`,
    `max_files`; and `confine`, whether to filter system calls. Those missing are set from outside, or not at all."""

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises SandboxError when the sandbox is gone."""
        ...

    def receive(self, size: int, deadline: float) -> bytes:
        """At least one and at most `size` bytes, waiting until `deadline` (time.monotonic). Raises SandboxError."""
        ...

    def close(self) -> None:
        """End the sandbox and everything in it. Returns at once, never raises, may be called twice."""
        ...


class Backend(Protocol):
    """A way to make sandboxes."""

    name: str

    def problem(self) -> str | None:
        """Why this backend cannot be used on this machine, as a sentence with the remedy; None when it can."""
        ...

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Build what sandboxes of this kind need and is not there yet; free after that. Raises BuildError."""
        ...

    def start(self, spec: SandboxSpec) -> Channel:
        """A new sandbox in which the guest's bootstrap is waiting for its code. Raises SandboxError."""
        ...

    def reap(self) -> list[str]:
        """Remove sandboxes whose owner is gone and say their names. Never touches those of a living owner."""
        ...


def owner() -> str:
    """This process as `host:pid:start time`, unmistakable even after the pid is used again."""
    return f"{socket.gethostname()}:{os.getpid()}:{psutil.Process().create_time():.2f}"


def owner_is_gone(mark: str) -> bool:
    """Whether the process that `owner()` described is known to be dead. False for other hosts: nobody can tell."""
    parts = mark.rsplit(":", 2)
    if len(parts) != 3 or parts[0] != socket.gethostname():
        return False
    try:
        pid, started = int(parts[1]), float(parts[2])
        return abs(psutil.Process(pid).create_time() - started) > 1.0
    except ValueError:
        return False
    except psutil.NoSuchProcess:
        return True
