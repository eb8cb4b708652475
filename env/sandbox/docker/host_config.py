"""What a sandbox's container may do and use, as the engine's host configuration."""

from __future__ import annotations

import json
from typing import Any

from stackrank.env.sandbox.base import PROC_HIDDEN, PROC_READ_ONLY, SandboxSpec
from stackrank.env.sandbox.guest.core import seccomp

ROOT = "/workspace"
_FILES = 200_000
"""Files and folders that the workspace and the temporary folder can each hold; the guest looks at fewer."""
SYS_HIDDEN = ("/sys/firmware", "/sys/devices/virtual/powercap")
_SYS = "/sys"
NO_MASKS: dict[str, tuple[str, ...]] = {"ReadonlyPaths": (), "MaskedPaths": ()}
_BERTH_MB = 64
_BERTH_PIDS = 3
"""Memory and processes of a berth beside its sandbox."""
_FOR_NAMESPACES = {"mount", "mount_setattr", "setns", "umount2", "unshare"}


def _berth_security() -> tuple[str, ...]:
    """A berth may make namespaces and mounts in them, which Docker's own profiles refuse without capabilities.

    Its own profile refuses what no sandbox may call, but for that. In sandboxes, the guest's filter refuses that too.
    """
    names = sorted(seccomp.refused() - _FOR_NAMESPACES)
    profile = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": names, "action": "SCMP_ACT_ERRNO"}]}
    return ("no-new-privileges", "apparmor=unconfined", f"seccomp={json.dumps(profile)}")


BERTH_SECURITY = _berth_security()


def host_config(spec: SandboxSpec, runtime: str | None) -> dict[str, Any]:
    """Return the engine's host configuration for a sandbox: what the sandbox may do and use."""
    limits = spec.limits
    tmpfs = f"rw,exec,nosuid,nodev,size={limits.disk_mb}m,uid=1000,gid=1000,nr_inodes={_FILES}"
    return {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "tmpfs": {ROOT: tmpfs + ",mode=0755", "/tmp": tmpfs + ",mode=1777"},
        **_limits(spec),
        "nano_cpus": int(limits.cpus * 1e9),
        "ipc_mode": "private",
        "ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}, {"Name": "nofile", "Soft": 1024, "Hard": 1024}],
        "log_config": {"Type": "none"},
        "auto_remove": True,
        "runtime": runtime,
    }


def _limits(spec: SandboxSpec, memory_mb: int = 0, pids: int = 0) -> dict[str, Any]:
    """The limits of memory and processes, with what is needed beside the sandbox."""
    limits = spec.limits
    # The content of a tmpfs counts as memory, so the disk limits are added; else a full disk would kill every process.
    memory = f"{limits.memory_mb + 2 * limits.disk_mb + memory_mb}m"
    return {"mem_limit": memory, "memswap_limit": memory, "pids_limit": limits.pids + pids}


def masks(spec: SandboxSpec) -> dict[str, tuple[str, ...]]:
    """Return what the engine makes read-only, and hides, of /proc and /sys. In a berth, each sandbox does this itself.

    Most of /sys counts what the machine did. Runtimes of other languages read their limits there.
    """
    hidden = (*PROC_HIDDEN, *SYS_HIDDEN, *(() if spec.toolchain else (_SYS,)))
    return {"ReadonlyPaths": PROC_READ_ONLY, "MaskedPaths": hidden}


def berth_config(spec: SandboxSpec) -> dict[str, Any]:
    """Return what differs in the host configuration of a berth."""
    return {"security_opt": list(BERTH_SECURITY), **_limits(spec, _BERTH_MB, _BERTH_PIDS)}


def room(spec: SandboxSpec) -> dict[str, Any]:
    """Return how a sandbox in a berth is furnished; see the guest's `namespaces.furnish`."""
    # It counts what the machine did, and in /sys/fs/cgroup what earlier sandboxes of the berth used.
    hidden = (*PROC_HIDDEN, _SYS)
    files = {"root": ROOT, "disk": spec.limits.disk_mb << 20, "files": _FILES}
    return {**files, "seal": True, "read_only": PROC_READ_ONLY, "hidden": hidden}
