"""Sandboxes made by bubblewrap: each has its own namespaces; they need no engine, no image and no root."""

from __future__ import annotations

import functools
from pathlib import Path

from stackrank.env.sandbox import orphans
from stackrank.env.sandbox.base import SandboxError, SandboxSpec, Say, silent
from stackrank.env.sandbox.bubblewrap import cgroups
from stackrank.env.sandbox.bubblewrap.environments import build, build_prefix
from stackrank.env.sandbox.bubblewrap.mounts import bind, system_mounts
from stackrank.env.sandbox.bubblewrap.start import ROOT, Factories, HostView
from stackrank.env.sandbox.environments import HOME, home_of
from stackrank.env.sandbox.process import ProcessChannel
from stackrank.env.sandbox.python_env import ensure_sandbox_python
from stackrank.env.sandbox.variables import variables_of
from stackrank.errors import NotReady
from stackrank.host import programs

_MISSING = "bubblewrap is not installed: install it (Debian, Ubuntu: apt-get install bubblewrap)"


class BubblewrapBackend:
    """Runs the guest as process 1 of its own process namespace: forked by a factory, or else started by bwrap."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.factories = Factories()

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
        """Build the environment and the prefixes of the spec, unless they are already built."""
        self._environment(spec, say)
        for prefix in spec.prefixes:
            build_prefix(str(self._program), prefix, say)

    def _environment(self, spec: SandboxSpec, say: Say = silent) -> Path | None:
        if spec.image is not None:
            raise SandboxError(f"bubblewrap has no images (requested: {spec.image}): use --sandbox docker")
        if self._program is None:
            raise SandboxError(_MISSING)
        return None if spec.environment is None else build(self._program, spec.environment, say)

    def start(self, spec: SandboxSpec) -> ProcessChannel:
        """Start a new sandbox. Raises SandboxError."""
        environment_folder = self._environment(spec)
        assert self._program is not None
        try:
            python = ensure_sandbox_python()
        except NotReady as error:
            raise SandboxError(str(error)) from None
        if environment_folder is None:
            python_folder = python.parent.parent
            argv = system_mounts(python)
        else:
            python_folder = environment_folder
            argv = system_mounts(environment_folder / "bin" / "python")
            argv += bind(environment_folder, Path(HOME))
            python = Path(HOME, "bin", "python")
        for prefix in spec.prefixes:
            argv += bind(build_prefix(self._program, prefix, silent), Path(home_of(prefix, "prefix")))
        argv += ["--remount-ro", "/dev", "--remount-ro", "/"]
        cgroup = cgroups.make_cgroup(spec.limits)
        guest_limits = {"max_files": 1024, "confine": True}
        if cgroup is None:
            # Weaker: this limits the memory of each process, not of all together.
            guest_limits |= {"max_memory": spec.limits.memory_mb << 20, "max_processes": spec.limits.pids}
        mounts = (*argv, "--remount-ro", "/dev", "--remount-ro", "/")
        # Packages installed from the workspace can be imported only by processes started after it was filled.
        ready = spec.environment is None
        version = python_folder.stat().st_ino
        view = HostView(self._program, python, version, mounts, tuple(variables_of(spec).items()), ready)
        start = functools.partial(self.factories.start, view, spec.limits.disk_mb, guest_limits)
        return ProcessChannel(start, "bwrap", root=ROOT, guest_limits=guest_limits, cgroup=cgroup)

    def reap(self) -> list[str]:
        """End sandboxes whose owner process is dead."""
        killed = orphans.end_orphans()
        cgroups.reap()
        return killed
