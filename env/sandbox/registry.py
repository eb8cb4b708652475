"""Which sandbox backends there are, and which one is used where none is named."""

from __future__ import annotations

import functools

from env.sandbox.base import Backend, SandboxError
from env.sandbox.bubblewrap import BubblewrapBackend
from env.sandbox.docker import DockerBackend
from env.sandbox.local import LocalBackend

BACKENDS: dict[str, type[DockerBackend] | type[BubblewrapBackend] | type[LocalBackend]] = {
    "docker": DockerBackend,
    "bubblewrap": BubblewrapBackend,
    "local": LocalBackend,
}


@functools.cache
def backend(name: str) -> Backend:
    """The backend of that name. Raises SandboxError when it does not exist or cannot be used here."""
    if name not in BACKENDS:
        raise SandboxError(f"there is no sandbox {name!r}: choose one of {', '.join(BACKENDS)}")
    found: Backend = BACKENDS[name]()
    problem = found.problem()
    if problem:
        raise SandboxError(problem)
    return found


def default_backend() -> Backend:
    """Docker where an engine answers, else bubblewrap. `local` has to be asked for by name."""
    problems = []
    for name in ("docker", "bubblewrap"):
        try:
            return backend(name)
        except SandboxError as error:
            problems.append(str(error))
    raise SandboxError("no sandbox can be made on this machine: " + "; ".join(problems))


def reap() -> list[str]:
    """Remove what dead owners left, in every backend that works here."""
    removed: list[str] = []
    for kind in BACKENDS.values():
        found: Backend = kind()
        if found.problem() is None:
            removed += found.reap()
    return removed
