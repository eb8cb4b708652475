"""The available kinds of sandbox, and the default.

Other packages add theirs through the entry point group `stackrank.sandboxes`.
"""

from __future__ import annotations

import functools
from importlib import import_module
from importlib.metadata import entry_points

from stackrank.env.sandbox.base import Backend, SandboxError
from stackrank.settings import settings
from stackrank.wording import one_of

# As strings, so that listing the backends imports none of them.
BUILT_IN = {
    "docker": "stackrank.env.sandbox.docker.backend:DockerBackend",
    "bubblewrap": "stackrank.env.sandbox.bubblewrap.backend:BubblewrapBackend",
    "local": "stackrank.env.sandbox.local:LocalBackend",
}


def backend_names() -> list[str]:
    """Return the names of all backends."""
    return [*BUILT_IN, *(point.name for point in entry_points(group="stackrank.sandboxes"))]


def make_backend(name: str) -> Backend:
    """Create a backend, even if it cannot be used here. Raises SandboxError if there is none of that name."""
    found: Backend
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found = getattr(import_module(module), attribute)()
        return found
    for point in entry_points(group="stackrank.sandboxes", name=name):
        found = point.load()()
        return found
    raise SandboxError(f"there is no sandbox {name!r}: choose {one_of(backend_names())}")


@functools.cache
def backend(name: str) -> Backend:
    """Return the backend of that name. Raises SandboxError if it does not exist or cannot be used here."""
    found = make_backend(name)
    problem = found.problem()
    if problem:
        raise SandboxError(problem)
    return found


def chosen_backend(name: str | None) -> Backend:
    """Return the backend of that name, or the default if it is None. Raises SandboxError."""
    return backend(name) if name else default_backend()


def default_backend() -> Backend:
    """Return Docker if an engine answers or an image is set for it, else bubblewrap. Others have to be named."""
    if "sandbox_image" in settings().model_fields_set:
        try:
            return backend("docker")
        except SandboxError as error:
            told = f"STACKRANK_SANDBOX_IMAGE is set, but {error}; `--sandbox bubblewrap` needs no image"
            raise SandboxError(told) from None
    problems = []
    for name in ("docker", "bubblewrap"):
        try:
            return backend(name)
        except SandboxError as error:
            problems.append(str(error))
    raise SandboxError("no sandbox can be started on this machine: " + "; ".join(problems))


def reap() -> list[str]:
    """Remove sandboxes of dead owners, in every backend that works here. Returns the names of removed sandboxes."""
    removed: list[str] = []
    for name in backend_names():
        found = make_backend(name)
        if found.problem() is None:
            removed += found.reap()
    return removed
