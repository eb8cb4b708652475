"""Keeps code in a bubblewrap sandbox from having the host's uid 0 when root runs stackrank.

The kernel guards /proc/sys by the host's uid, not by capabilities, so a process that is uid 0 on the host could write
there whatever its namespace says. `bwrap` itself needs root to reach folders that only root may read. So it gets a
user namespace with two users: 0 is the host's root and sets the sandbox up; 1000 is an unprivileged user of the host
and runs everything else. `bwrap` cannot switch from one to the other; the first program in the sandbox does.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stackrank.env.sandbox.base import SandboxError
from stackrank.host import programs
from stackrank.host.programs import PIPE

INSIDE = 1000
"""The user and the group of everything in a sandbox, as seen from inside."""
_NOBODY = 65534

# Permanently gives up every capability and becomes INSIDE. Capabilities that a setuid program could regain are dropped
# from the bounding set too. prctl 24 is PR_CAPBSET_DROP; 0x20080522 is _LINUX_CAPABILITY_VERSION_3.
_BECOME_USER = """
import ctypes,os
libc=ctypes.CDLL(None)
for folder in {folders!r}: os.chown(folder,{uid},{uid})
for capability in range(64): libc.prctl(24,capability,0,0,0)
os.setgroups([]); os.setresgid({uid},{uid},{uid}); os.setresuid({uid},{uid},{uid})
libc.capset((ctypes.c_uint32*2)(0x20080522,0),(ctypes.c_uint32*6)())
os.closerange(3,256)
"""


@functools.cache
def is_host_root() -> bool:
    """Return whether this process is the host's root, so that code in a sandbox would be root, too."""
    # In a user namespace of another user (a rootless container), the second column shows that user's ids.
    identity = [line.split()[:2] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return os.geteuid() == 0 and identity[:1] == [["0", "0"]]


@functools.cache
def host_ids() -> tuple[int, int]:
    """Return the host's uid and gid of code in a sandbox: root's first subordinate ids, or those of nobody."""
    return _subordinate("/etc/subuid"), _subordinate("/etc/subgid")


def _subordinate(file: str) -> int:
    # NAME:FIRST:COUNT, see subuid(5).
    try:
        lines = [line.split(":") for line in Path(file).read_text().splitlines()]
    except OSError:
        return _NOBODY
    return next((int(line[1]) for line in lines if len(line) == 3 and line[0] in ("root", "0")), _NOBODY)


@contextmanager
def user_namespace() -> Iterator[int]:
    """Give a descriptor of a new user namespace with the host's root as 0 and an unprivileged user as INSIDE.

    Raises SandboxError.
    """
    # A separate program, because a fork of this process, which has threads, could wait forever for an orphaned lock.
    with programs.start(["unshare", "--user", "cat"], stdin=PIPE, stdout=PIPE) as holder:
        namespace = _map_users(holder)
    try:
        yield namespace
    finally:
        os.close(namespace)


def _map_users(holder: programs.Process[bytes]) -> int:
    assert holder.stdin is not None and holder.stdout is not None
    try:
        holder.stdin.write(b"!")
        holder.stdin.flush()
        if not holder.stdout.read(1):  # `cat` echoes as soon as it is in its namespace
            raise SandboxError("root cannot start a sandbox here: allow user namespaces, or run as another user")
        for name, host_id in zip(("uid_map", "gid_map"), host_ids(), strict=True):
            Path(f"/proc/{holder.pid}/{name}").write_text(f"0 0 1\n{INSIDE} {host_id} 1\n")
        return os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"root cannot set up a user namespace here ({error}): run as another user") from None


def namespace_arguments(namespace: int) -> list[str]:
    """Return `bwrap` arguments for that namespace, with the capabilities the first program needs to become INSIDE."""
    capabilities = ("CAP_CHOWN", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP")
    return ["--userns", str(namespace), *(word for name in capabilities for word in ("--cap-add", name))]


def become_user(folders: Sequence[str]) -> str:
    """Return Python code by which the first program becomes INSIDE, the new owner of `folders`."""
    return _BECOME_USER.format(folders=tuple(folders), uid=INSIDE)
