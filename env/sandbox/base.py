"""The protocols of sandboxes (`Backend`, `Channel`), their specification and their errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from stackrank.env.environment import Environment
from stackrank.env.task import Limits, Task
from stackrank.errors import InfrastructureError, StackrankError


class SandboxError(InfrastructureError):
    """The infrastructure failed: the sandbox cannot be started, died, or does not answer. Never the agent's fault."""


class SandboxClosed(SandboxError):
    """We closed the sandbox while it was in use, as when a run is cancelled. Nobody else is to blame."""


class MachineBusy(SandboxError):
    """Tests timed out because they waited for a processor. This says nothing about the code under test."""


class BuildError(SandboxError):
    """An environment cannot be built. Retrying does not help; other tasks are not affected."""


class PreparationFailed(InfrastructureError):
    """The sandbox of an episode or a verdict could not be prepared. No code of the agent ran in it."""


class GuestBug(StackrankError):
    """The guest in a sandbox failed; the message has its traceback. What ran in the sandbox may have caused this."""


class BadReply(GuestBug):
    """What came from a sandbox is not what stackrank's guest sends. A program in the sandbox has taken its place, so
    the sandbox is closed, and an episode that it belongs to ends as `unresolved`."""


class Refused(StackrankError):
    """The sandbox works, but the request cannot be fulfilled. The message is for the agent."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """The kind of sandbox requested. Unused sandboxes with equal specifications are interchangeable."""

    image: str | None = None
    """Container image; None for the backend's default. Backends without images refuse one."""
    toolchain: str = ""
    """The language whose compilers and debuggers it has (`Task.toolchain`); empty for Python alone."""
    environment: Environment | None = None
    """What to install on top of the image. The backend builds it when it is first needed."""
    prefixes: tuple[Environment, ...] = ()
    """Additional, separate environments. Each has a folder (`Channel.prefixes`) that is visible only on request."""
    limits: Limits = field(default_factory=Limits)
    warm: bool = True
    """Whether a pool prepares it to fork test runs. Verdicts do not need this: they run tests in a new process."""

    @property
    def has_artefacts(self) -> bool:
        """Whether the environment brings files for the workspace (see `Environment`)."""
        return self.environment is not None and self.environment.has_artefacts


def spec_for(task: Task, *, warm: bool = True) -> SandboxSpec:
    """Return the specification of the sandbox that a task needs."""
    return SandboxSpec(task.image, task.toolchain, task.environment, limits=task.limits, warm=warm)


Say = Callable[[str], None]


def silent(message: str) -> None:
    """Ignore the message."""


CHECK_EVERY_S = 2.0
"""How often a channel that waits for an answer checks that the sandbox is still running."""
# Files about the whole machine that Docker also hides or makes read-only, and files that anybody may write to:
# https://github.com/moby/moby/blob/master/oci/defaults.go (MaskedPaths, ReadonlyPaths). The others that are hidden here
# count what the machine did, or show what it holds: one sandbox could change that and the next one read it.
PROC_READ_ONLY = ("/proc/sys", "/proc/bus", "/proc/irq", "/proc/sysrq-trigger")
PROC_HIDDEN = (
    "/proc/acpi", "/proc/asound", "/proc/buddyinfo", "/proc/cgroups", "/proc/consoles", "/proc/diskstats",
    "/proc/driver", "/proc/fs", "/proc/interrupts", "/proc/iomem", "/proc/ioports", "/proc/kallsyms", "/proc/kcore",
    "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/kpagecgroup", "/proc/kpagecount", "/proc/kpageflags",
    "/proc/latency_stats", "/proc/loadavg", "/proc/locks", "/proc/mdstat", "/proc/modules", "/proc/pagetypeinfo",
    "/proc/partitions", "/proc/pressure", "/proc/sched_debug", "/proc/schedstat", "/proc/scsi", "/proc/slabinfo",
    "/proc/softirqs", "/proc/swaps", "/proc/sys/fs/aio-nr", "/proc/sys/fs/dentry-state", "/proc/sys/fs/file-nr",
    "/proc/sys/fs/inode-nr", "/proc/sys/fs/inode-state", "/proc/sys/fs/quota", "/proc/sys/kernel/pty/nr",
    "/proc/timer_list", "/proc/timer_stats", "/proc/vmallocinfo", "/proc/vmstat", "/proc/zoneinfo",
)  # fmt: skip


class Channel(Protocol):
    """A byte stream to and from one resident guest. Only one thread uses it at a time."""

    root: str
    """The workspace's path inside the sandbox."""
    name: str
    """The name of the sandbox in its backend, for messages."""
    prefixes: str
    """The folder inside the sandbox that contains the specification's prefixes, in folders named by their digests."""
    guest_limits: dict[str, int]
    """Limits that the guest sets for the processes it starts: `max_memory` (bytes of address space), `max_processes`,
    `max_files`; and `confine`, whether to filter system calls. Limits missing here are set from outside, or not at all.
    """

    shared: str
    """Why programs in this sandbox may read what programs in earlier ones left behind; empty if they cannot."""

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises SandboxError if the sandbox is gone."""
        ...

    def receive(self, size: int, deadline: float) -> bytes:
        """Read 1 to `size` bytes, waiting at most until `deadline` (time.monotonic). Raises SandboxError."""
        ...

    def used_s(self) -> float:
        """Return the processor seconds used by all processes of the sandbox, measured from outside; 0 if unknown."""
        ...

    def close(self) -> None:
        """End the sandbox and everything in it. Returns at once, never raises, may be called twice."""
        ...

    def join(self, timeout_s: float) -> bool:
        """Close the sandbox, and wait. Returns whether nothing of it runs any more."""
        ...


class Backend(Protocol):
    """A kind of sandbox: checks, builds and starts them."""

    name: str

    def problem(self) -> str | None:
        """Return why this backend cannot be used on this machine, as a sentence with the remedy, or None if it can."""
        ...

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Build what sandboxes of this specification need, unless it is already built. Raises BuildError."""
        ...

    def start(self, spec: SandboxSpec) -> Channel:
        """Start a sandbox in which the guest's bootstrap waits for its code. Raises SandboxError."""
        ...

    def reap(self) -> list[str]:
        """Remove sandboxes whose owner process is dead, and return their names. Leaves those of living owners alone."""
        ...
