"""Sandboxes by bubblewrap: namespaces of their own, no engine, no image, no root needed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from env.sandbox import cgroups, strays
from env.sandbox.base import SandboxError, SandboxSpec, Say, owner, silent
from env.sandbox.bootstrap import loader_command
from env.sandbox.bubblewrap_environments import build
from env.sandbox.environments import HOME
from env.sandbox.process import OWNER_VARIABLE, ProcessChannel
from env.sandbox.python_env import SetupError, ensure_sandbox_python

ROOT = "/workspace"
_SHARED_MEMORY = 64 << 20  # as Docker gives
_MISSING = "bubblewrap is not installed: install it (Debian, Ubuntu: apt-get install bubblewrap)"


class BubblewrapBackend:
    """One bwrap process per sandbox; the guest is process 1 of its own process namespace."""

    name = "bubblewrap"

    @functools.cached_property
    def _program(self) -> str | None:
        return shutil.which("bwrap")

    @functools.cached_property
    def _no_more_namespaces(self) -> list[str]:
        """bubblewrap before 0.8 cannot forbid them; the guest's filter of system calls does so too."""
        done = subprocess.run([str(self._program), "--help"], capture_output=True, text=True, check=False)
        return ["--unshare-user", "--disable-userns"] if "--disable-userns" in done.stdout + done.stderr else []

    def problem(self) -> str | None:
        """Whether bwrap is there and may make namespaces."""
        if self._program is None:
            return _MISSING
        probe = subprocess.run(
            [self._program, "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
        )
        if probe.returncode:
            return f"bubblewrap cannot make a sandbox here ({probe.stderr.strip()}): allow user namespaces"
        return None

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Build the spec's environment where it is not there yet."""
        self._environment(spec, say)

    def _environment(self, spec: SandboxSpec, say: Say = silent) -> Path | None:
        if spec.image is not None:
            raise SandboxError(f"bubblewrap has no images (wanted {spec.image}): use --sandbox docker")
        if self._program is None:
            raise SandboxError(_MISSING)
        return None if spec.environment is None else build(self._program, spec.environment, say)

    def start(self, spec: SandboxSpec) -> ProcessChannel:
        """A new sandbox. Raises SandboxError."""
        environment_folder = self._environment(spec)
        assert self._program is not None
        try:
            python = ensure_sandbox_python()
        except SetupError as error:
            raise SandboxError(str(error)) from None
        limits = spec.limits
        argv = [self._program, *isolation(limits.disk_mb), *self._no_more_namespaces]
        if environment_folder is None:
            argv += system_mounts(python)
        else:
            argv += [*system_mounts(environment_folder / "bin" / "python"), "--ro-bind", str(environment_folder), HOME]
            python = Path(HOME, "bin", "python")
        argv += ["--remount-ro", "/dev", "--remount-ro", "/"]
        environment = {"PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin"}
        for name, value in environment.items():
            argv += ["--setenv", name, value]
        cgroup = cgroups.make(limits)
        guest_limits = {"max_files": 1024, "confine": True}
        if cgroup is None:
            # Weaker: memory for each process, not for all; and processes are not counted where root runs this.
            guest_limits |= {"max_memory": limits.memory_mb << 20, "max_processes": limits.pids}
        return ProcessChannel(
            [*argv, "--", *loader_command(str(python))],
            root=ROOT,
            env={**environment, OWNER_VARIABLE: owner()},
            guest_limits=guest_limits,
            cgroup=cgroup,
        )

    def reap(self) -> list[str]:
        """End sandboxes whose owner is gone."""
        ended = strays.end_orphans()
        cgroups.reap()
        return ended


def isolation(disk_mb: int) -> list[str]:
    """Arguments that cut a sandbox off: namespaces, no capabilities, an environment and folders of its own."""
    size = str(disk_mb << 20)
    return [
        "--unshare-all", "--as-pid-1", "--new-session", "--clearenv", "--cap-drop", "ALL",
        "--hostname", "sandbox", "--uid", "1000", "--gid", "1000",
        "--proc", "/proc", "--dev", "/dev", "--size", str(_SHARED_MEMORY), "--tmpfs", "/dev/shm",
        "--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", ROOT, "--chdir", ROOT,
    ]  # fmt: skip


def system_mounts(python: Path) -> list[str]:
    """Read-only mounts of the system's programs and of the sandbox's Python, and of nothing else."""
    arguments: list[str] = []
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            arguments += ["--ro-bind", folder, folder]
    for file in ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime"):
        arguments += ["--ro-bind-try", file, file]
    environment = python.parent.parent
    arguments += ["--ro-bind", str(environment), str(environment)]
    # A Python outside /usr (pyenv, uv, conda) is not on the system's paths.
    base = Path(os.path.realpath(python)).parent.parent
    if not base.is_relative_to("/usr") and base != environment:
        arguments += ["--ro-bind", str(base), str(base)]
    prefix = Path(sys.base_prefix)
    if not prefix.is_relative_to("/usr") and prefix != base:
        arguments += ["--ro-bind-try", str(prefix), str(prefix)]
    # What else is installed here is none of a task's business: a version of its own project would show the fix.
    for top in {base, prefix, Path("/usr"), Path("/usr/local")} - {environment}:
        for packages in sorted(top.glob("lib/python3*/*-packages")):
            arguments += ["--tmpfs", str(packages)]
    # An installed stackrank has the hidden tests and the fixes of its own suite.
    package = Path(__file__).parents[1]
    if any(package.is_relative_to(each) for each in ("/usr", environment, base, prefix)):
        arguments += ["--tmpfs", str(package)]
    return arguments
