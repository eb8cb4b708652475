"""No isolation: the guest as a plain process in a temporary folder. Has to be asked for by name."""

from __future__ import annotations

import tempfile
from pathlib import Path

from env.sandbox import strays
from env.sandbox.base import BuildError, SandboxError, SandboxSpec, Say, owner, silent
from env.sandbox.bootstrap import loader_command
from env.sandbox.process import OWNER_VARIABLE, ProcessChannel
from env.sandbox.python_env import SetupError, ensure_sandbox_python


class LocalBackend:
    """Sandboxes that are none: for debugging stackrank itself, and for trusted code."""

    name = "local"

    def problem(self) -> str | None:
        """It always works where this package runs on Linux."""
        return None if Path("/proc/self/fd").exists() else "the local sandbox needs Linux's /proc"

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """It has no environments."""
        if spec.environment is not None:
            raise BuildError("the local sandbox has no environments: use --sandbox docker or bubblewrap")

    def start(self, spec: SandboxSpec) -> ProcessChannel:
        """A guest in a new temporary folder."""
        if spec.image is not None:
            raise SandboxError(f"the local sandbox has no images (wanted {spec.image}): use --sandbox docker")
        self.prepare(spec)
        try:
            python = ensure_sandbox_python()
        except SetupError as error:
            raise SandboxError(str(error)) from None
        folder = Path(tempfile.mkdtemp(prefix="stackrank-"))
        root = folder / "workspace"
        root.mkdir()
        environment = {"PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin", OWNER_VARIABLE: owner()}
        limits = {"max_files": 1024}
        return ProcessChannel(
            loader_command(str(python)), root=str(root), env=environment, guest_limits=limits, folder=folder
        )

    def reap(self) -> list[str]:
        """End guests whose owner is gone."""
        return strays.end_orphans()
