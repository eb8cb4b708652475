"""Environments as folders on this machine: `environments/<digest>` in stackrank's home, seen as `/opt/environment`."""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
import tarfile
import tempfile
import time
from pathlib import Path

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import BuildError, SandboxError, Say
from stackrank.env.sandbox.bubblewrap import unprivileged
from stackrank.env.sandbox.bubblewrap.mounts import proc, system_mounts
from stackrank.env.sandbox.environments import (
    HOME,
    KIT,
    SOURCE,
    build_context,
    build_script,
    describe,
    find_interpreter,
    home_of,
    pip_settings,
    run_build,
)
from stackrank.env.sandbox.python_env import ensure_sandbox_python, sandbox_python
from stackrank.errors import NotReady
from stackrank.home import home, locked
from stackrank.host.underway import underway

_DONE = ".stackrank-built"
_DENIED = re.compile(rf"(?=.*{HOME}).*(Permission denied|not permitted)")
"""Matches why a build failed that wrote into a file of its base, instead of replacing it."""


def own_environment(say: Say) -> Path:
    """Return the folder of the sandbox's own Python environment, made if it is missing. Raises SandboxError."""
    try:
        return ensure_sandbox_python(say=say).parent.parent
    except NotReady as error:
        raise SandboxError(str(error)) from None


def build(bwrap: str, environment: Environment, say: Say) -> Path:
    """Return the folder of an environment, building it if it is missing. Raises BuildError."""
    if not environment.can_be_built:
        raise BuildError(
            f"bubblewrap has no images (requested: {environment.prebuilt}), and nothing describes how to build "
            "one: use --sandbox docker, or describe it with --environments"
        )
    base = _layer(bwrap, None, environment.base, "packages", say)
    return _layer(bwrap, base, environment, "setup", say) if environment.setup else base


def build_prefix(bwrap: str, prefix: Environment, say: Say) -> Path:
    """Return the folder of a prefix, building it if it is missing. Raises BuildError."""
    return _layer(bwrap, None, prefix, "prefix", say)


def _layer(bwrap: str, base: Path | None, environment: Environment, part: str, say: Say) -> Path:
    text = build_script(environment, part)
    identity = f"{base and base.name} {environment.digest} {text} {find_interpreter(environment)}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    folder = home() / "environments" / digest
    if (folder / _DONE).exists():
        return folder
    with locked(f"environments/{digest}"):
        if not (folder / _DONE).exists():  # another process may have built it while this one waited
            if part == "packages":
                own_environment(say)
            started = time.monotonic()
            with underway(f"building the environment {digest}: {describe(environment, part)}", say):
                try:
                    _make(bwrap, base, environment, part, text, folder, shares=unprivileged.is_host_root())
                except BuildError as error:
                    if base is None or not _DENIED.search(str(error)):
                        raise
                    _make(bwrap, base, environment, part, text, folder, shares=False)
            say(f"the environment {digest} was built in {time.monotonic() - started:.0f} s")
    return folder


def _make(
    bwrap: str, base: Path | None, environment: Environment, part: str, text: str, folder: Path, *, shares: bool
) -> None:
    """Build next to `folder` and rename, so that nobody sees an incomplete environment. Called with the lock held.

    `shares`: whether files of the base are linked, not copied. That is safe where they belong to another user than the
    one who builds: the build can replace them, and not write into them.
    """
    for leftover in folder.parent.glob(f".{folder.name}-*"):  # left by a process that was killed while building
        shutil.rmtree(leftover, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        home, opt, source = scratch / "environment", scratch / "opt", scratch / "workspace"
        if base is None:
            home.mkdir()
        else:
            shutil.copytree(base, home, symlinks=True, copy_function=_link if shares else shutil.copy2)
            (home / _DONE).unlink()
        (scratch / home_of(environment, part).lstrip("/")).mkdir(parents=True)  # this is inside `opt`
        source.mkdir()
        with tarfile.open(fileobj=io.BytesIO(build_context(environment, part))) as tar:
            tar.extractall(scratch, filter="data")
        _run(bwrap, environment, part, text, home, opt, source, shares=shares)
        (home / _DONE).touch()
        home.rename(folder)
    except OSError as error:
        raise BuildError(f"the environment cannot be built: {error}") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links, or too many of one file
        shutil.copy2(source, target)
    return target


def _run(
    bwrap: str, environment: Environment, part: str, text: str, home: Path, opt: Path, source: Path, *, shares: bool
) -> None:
    python = find_interpreter(environment)
    variables, places = pip_settings()
    argv = [
        "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
        "--new-session", "--clearenv", "--cap-drop", "ALL", *proc(), "--dev", "/dev", "--tmpfs", "/tmp",
        *system_mounts(python), "--ro-bind", "/etc", "/etc",
        "--bind", str(opt), "/opt", "--bind", str(home), home_of(environment, part), "--bind", str(source), SOURCE,
        "--chdir", SOURCE,
    ]  # fmt: skip
    if part == "packages":
        argv += ["--ro-bind", str(sandbox_python().parent.parent), KIT]
    for place in places:
        argv += ["--ro-bind", place, place]
    path = f"{python.parent}:/usr/local/bin:/usr/bin:/bin"
    for name, value in {**variables, **dict(environment.variables), "HOME": "/tmp", "PATH": path}.items():
        argv += ["--setenv", name, value]
    shell = ["/bin/sh", "-c", text]
    if not unprivileged.is_host_root():
        run_build([bwrap, "--unshare-user", *argv, "--", *shell])
        return
    _give(home, unprivileged.host_ids(), only_folders=shares)
    for folder in (opt, source):
        _give(folder, unprivileged.host_ids())
    with unprivileged.user_namespace() as namespace:
        first = unprivileged.become_user(("/tmp",)) + f"os.execv('/bin/sh', {shell!r})"
        user = unprivileged.namespace_arguments(namespace)
        command = [bwrap, *argv, *user, "--", str(python), "-I", "-S", "-c", first]
        run_build(command, pass_fds=(namespace,))
    _give(home, (0, 0))


def _give(folder: Path, owner: tuple[int, int], *, only_folders: bool = False) -> None:
    """Make (uid, gid) the owner of everything in a folder, or of its folders alone, so that files can be replaced."""
    for place, folders, files in os.walk(folder):
        for name in (".", *(() if only_folders else (*folders, *files))):
            os.chown(Path(place, name), *owner, follow_symlinks=False)
