"""What every sandbox backend agrees on."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from typing import Protocol

import psutil

from env.task import Limits


class SandboxError(Exception):
    """The infrastructure failed: the sandbox cannot be started, died, or does not answer. Never the agent's fault."""


class Refused(Exception):
    """The sandbox is well, and what was asked cannot be done; the message is for the agent."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What sandbox is wanted. Sandboxes of equal specification are interchangeable before they are used."""

    image: str | None = None
    """Container image; None for the backend's own. Backends without images refuse one."""
    limits: Limits = field(default_factory=Limits)


class Channel(Protocol):
    """Bytes to and from one resident guest. Used by one thread at a time."""

    root: str
    """The workspace's path inside the sandbox."""
    name: str
    """What the sandbox is called where it runs, for messages."""
    guest_limits: dict[str, int]
    """Limits that the guest has to set on what it starts: `max_memory` (bytes of address space), `max_files`."""

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
    host, _, rest = mark.rpartition(":")[0].rpartition(":")
    pid, start = rest, mark.rpartition(":")[2]
    if host != socket.gethostname() or not pid.isdigit():
        return False
    try:
        return abs(psutil.Process(int(pid)).create_time() - float(start)) > 1.0
    except psutil.NoSuchProcess:
        return True
