"""What a sandbox's container may do and use, as the engine's host configuration."""

from __future__ import annotations

from typing import Any

from stackrank.env.sandbox.base import SandboxSpec

ROOT = "/workspace"
_FILES = 200_000
"""Files and folders that the workspace and the temporary folder can each hold; the guest looks at fewer."""


def host_config(spec: SandboxSpec, runtime: str | None) -> dict[str, Any]:
    """Return the engine's host configuration for a sandbox: what the sandbox may do and use."""
    limits = spec.limits
    tmpfs = f"rw,exec,nosuid,nodev,size={limits.disk_mb}m,uid=1000,gid=1000,nr_inodes={_FILES}"
    # The content of a tmpfs counts as memory, so the disk limits are added; else a full disk would kill every process.
    memory = f"{limits.memory_mb + 2 * limits.disk_mb}m"
    return {
        "network_mode": "none",
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges"],
        "read_only": True,
        "tmpfs": {ROOT: tmpfs + ",mode=0755", "/tmp": tmpfs + ",mode=1777"},
        "mem_limit": memory,
        "memswap_limit": memory,
        "pids_limit": limits.pids,
        "nano_cpus": int(limits.cpus * 1e9),
        "ipc_mode": "private",
        "ulimits": [{"Name": "core", "Soft": 0, "Hard": 0}, {"Name": "nofile", "Soft": 1024, "Hard": 1024}],
        "log_config": {"Type": "none"},
        "auto_remove": True,
        "runtime": runtime,
    }
