"""Sandboxes without isolation: the guest is a plain process in a temporary folder. Used only if named explicitly."""

from __future__ import annotations

import functools
import io
import os
import shutil
import tarfile
from pathlib import Path

from stackrank import log
from stackrank.env.environment import Environment
from stackrank.env.local_packages import STAGE
from stackrank.env.sandbox import orphans
from stackrank.env.sandbox.base import BuildError, SandboxError, SandboxSpec, Say, silent
from stackrank.env.sandbox.bootstrap import loader_command
from stackrank.env.sandbox.environments import (
    build_context,
    build_script,
    find_interpreter,
    pip_settings,
    run_build,
)
from stackrank.env.sandbox.process import OWNER_VARIABLE, ProcessChannel, starter
from stackrank.env.sandbox.python_env import ensure_sandbox_python
from stackrank.errors import NotReady
from stackrank.home import home, locked, make_private, process_mark
from stackrank.host.scratch import make_scratch
from stackrank.settings import settings


@functools.cache
def _warn() -> None:
    """Warn once if root runs stackrank: code in the sandbox may then do anything."""
    if os.geteuid() == 0:
        log.warning("the sandbox local runs code as root, with full access to this machine")


class LocalBackend:
    """Sandboxes that isolate nothing, for debugging stackrank itself and for trusted code."""

    name = "local"

    def problem(self) -> str | None:
        """Check that this is Linux, and that the owner of the machine has allowed the backend."""
        if not settings().allow_local:
            return (
                "the sandbox local isolates nothing: set STACKRANK_ALLOW_LOCAL=1 to allow it for code that you trust, "
                "or use --sandbox docker or bubblewrap"
            )
        return None if Path("/proc/self/fd").exists() else "the local sandbox needs Linux's /proc"

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Install prefixes. The backend supports no environments."""
        if spec.environment is not None:
            raise BuildError("the local sandbox has no environments: use --sandbox docker or bubblewrap")
        for prefix in spec.prefixes:
            _install(prefix, say)

    def start(self, spec: SandboxSpec) -> ProcessChannel:
        """Start a guest in a new temporary folder."""
        if spec.image is not None:
            raise SandboxError(f"the local sandbox has no images (requested: {spec.image}): use --sandbox docker")
        self.prepare(spec)
        _warn()
        try:
            python = ensure_sandbox_python()
        except NotReady as error:
            raise SandboxError(str(error)) from None
        folder = make_scratch()
        root = folder / "workspace"
        root.mkdir()
        environment = {"PATH": f"{python.parent}:/usr/local/bin:/usr/bin:/bin", OWNER_VARIABLE: process_mark()}
        limits = {"max_files": 1024}
        return ProcessChannel(
            starter(loader_command(str(python)), environment),
            python.name,
            root=str(root),
            guest_limits=limits,
            folder=folder,
            prefixes=str(_prefixes()),
            shared="nothing isolates sandboxes of the kind `local` from each other",
        )

    def reap(self) -> list[str]:
        """End guests whose owner process is dead."""
        return orphans.end_orphans()


def _prefixes() -> Path:
    return home() / "prefixes"


def _install(prefix: Environment, say: Say) -> None:
    """Build a prefix unless it exists, in its final place, because its programs contain the path. Raises BuildError."""
    folder = _prefixes() / prefix.digest
    stamp = folder / ".stackrank-built"
    if stamp.exists():
        return
    with locked(f"prefixes/{prefix.digest}"):
        if stamp.exists():  # another process may have built it while this one waited
            return
        shutil.rmtree(folder, ignore_errors=True)  # left by a process that was killed while building
        make_private(folder.parent)
        say(f"building the environment {prefix.digest}")
        scratch = folder.parent / f".{folder.name}"
        with tarfile.open(fileobj=io.BytesIO(build_context(prefix, "prefix"))) as tar:
            tar.extractall(scratch, filter="data")
        stage = f"{scratch}{STAGE}"
        shell = ["/bin/sh", "-c", build_script(prefix, "prefix", home=str(folder), stage=stage)]
        env = {
            **os.environ,
            **pip_settings()[0],
            "PATH": f"{find_interpreter(prefix).parent}:/usr/local/bin:/usr/bin:/bin",
        }
        try:
            run_build(shell, env=env)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        stamp.touch()
