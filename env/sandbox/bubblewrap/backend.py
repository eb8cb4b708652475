"""Sandboxes made by bubblewrap: each has its own namespaces; they need no engine, no image and no root."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from stackrank.env.sandbox import orphans
from stackrank.env.sandbox.base import SandboxError, SandboxSpec, Say, silent
from stackrank.env.sandbox.bubblewrap import cgroups
from stackrank.env.sandbox.bubblewrap.environments import build, build_prefix, own_environment
from stackrank.env.sandbox.bubblewrap.memory import Memory, NoMemory
from stackrank.env.sandbox.bubblewrap.mounts import bind, names, system_mounts
from stackrank.env.sandbox.bubblewrap.start import ROOT, Factories, HostView
from stackrank.env.sandbox.environments import HOME, home_of
from stackrank.env.sandbox.process import ProcessChannel
from stackrank.env.sandbox.variables import variables_of
from stackrank.host import programs

_MISSING = "bubblewrap is not installed: install it (Debian, Ubuntu: apt-get install bubblewrap)"


class BubblewrapBackend:
    """Runs the guest as process 1 of its own process namespace: forked by a factory, or else started by bwrap."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.factories = Factories()
        self.memory = Memory()

    @functools.cached_property
    def _program(self) -> str | None:
        return programs.find_program("bwrap")

    def problem(self) -> str | None:
        """Check that bwrap is installed and may create namespaces."""
        if self._program is None:
            return _MISSING
        probe = programs.run([self._program, "--unshare-all", "--ro-bind", "/", "/", "true"])
        if probe.status:
            return f"bubblewrap cannot make a sandbox here ({probe.error_text.strip()}): allow user namespaces"
        return None

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Build the environment and the prefixes of the spec, and copy them into memory, unless this is done."""
        folders = self._folders(spec, say)[1]
        if spec.toolchain:
            return  # compilers are too large to be kept in memory
        with contextlib.suppress(NoMemory):  # `start` says so
            self.memory.view(folders, say)

    def _folders(self, spec: SandboxSpec, say: Say) -> tuple[Path, dict[Path, Path]]:
        """Return the folder with the sandbox's Python, and where sandboxes see this folder and those of the prefixes.

        Raises SandboxError.
        """
        environment = self._environment(spec, say)
        if environment is None:
            python_folder = own_environment(say)
            folders = {python_folder: python_folder}
        else:
            python_folder = environment
            folders = {environment: Path(HOME)}
        for prefix in spec.prefixes:
            folders[build_prefix(str(self._program), prefix, say)] = Path(home_of(prefix, "prefix"))
        return python_folder, folders

    def _environment(self, spec: SandboxSpec, say: Say = silent) -> Path | None:
        if spec.image is not None:
            raise SandboxError(f"bubblewrap has no images (requested: {spec.image}): use --sandbox docker")
        if self._program is None:
            raise SandboxError(_MISSING)
        return None if spec.environment is None else build(self._program, spec.environment, say)

    def start(self, spec: SandboxSpec) -> ProcessChannel:
        """Start a new sandbox. Raises SandboxError."""
        python_folder, folders = self._folders(spec, silent)
        assert self._program is not None
        python = folders[python_folder] / "bin" / "python"
        try:
            if spec.toolchain:
                raise NoMemory(f"it sees the programs for {spec.toolchain} on this machine's disk")
            in_memory = self.memory.view(folders, silent)
            shared, mounts = in_memory.problem, in_memory.mounts()
        except NoMemory as error:
            shared = str(error)
            mounts = [*system_mounts(python_folder / "bin" / "python", spec.toolchain), *names()]
            for folder, seen_as in folders.items():
                mounts += bind(folder, seen_as)
        cgroup = cgroups.make_cgroup(spec.limits)
        guest_limits = {"max_files": 1024, "confine": True}
        if cgroup is None:
            # Weaker: this limits the memory of each process, not of all together.
            guest_limits |= {"max_memory": spec.limits.memory_mb << 20, "max_processes": spec.limits.pids}
        mounts += ["--remount-ro", "/dev", "--remount-ro", "/"]
        # Packages installed from the workspace can be imported only by processes started after it was filled.
        ready = not spec.has_artefacts
        version = python_folder.stat().st_ino
        view = HostView(self._program, python, version, tuple(mounts), tuple(variables_of(spec).items()), ready)
        start = functools.partial(self.factories.start, view, spec.limits.disk_mb, guest_limits)
        channel = ProcessChannel(start, "bwrap", root=ROOT, guest_limits=guest_limits, cgroup=cgroup, shared=shared)
        if not channel.is_forked:
            channel.shared = shared or "sandboxes cannot be forked here, so programs can set the times of devices"
        return channel

    def reap(self) -> list[str]:
        """End sandboxes whose owner process is dead."""
        killed = orphans.end_orphans()
        cgroups.reap()
        return killed
