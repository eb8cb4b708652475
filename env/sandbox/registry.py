"""The available kinds of sandbox, and the default.

Other packages add theirs through the entry point group `stackrank.sandboxes`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module

from stackrank.env.sandbox.base import Backend, SandboxError
from stackrank.errors import PluginError
from stackrank.plugins import load_plugin, plugin_names
from stackrank.settings import settings
from stackrank.wording import one_of

GROUP = "stackrank.sandboxes"
# As strings, so that listing the backends imports none of them.
BUILT_IN = {
    "docker": "stackrank.env.sandbox.docker.backend:DockerBackend",
    "bubblewrap": "stackrank.env.sandbox.bubblewrap.backend:BubblewrapBackend",
    "local": "stackrank.env.sandbox.local:LocalBackend",
}


def backend_names() -> list[str]:
    """Return the names of all backends."""
    return [*BUILT_IN, *plugin_names(GROUP)]


def make_backend(name: str) -> Backend:
    """Create a backend, even if it cannot be used here. Raises SandboxError for an unknown name, PluginError."""
    make: Callable[[], Backend] | None
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        make = getattr(import_module(module), attribute)
    else:
        make = load_plugin(GROUP, name)
    if make is None:
        raise SandboxError(f"there is no sandbox {name!r}: choose {one_of(backend_names())}")
    return make()


def problem_of(name: str) -> str | None:
    """Return why a kind of sandbox cannot be used on this machine; None if it can."""
    try:
        return make_backend(name).problem()
    except PluginError as error:
        return str(error)


@functools.cache
def backend(name: str) -> Backend:
    """Return the backend of that name. Raises SandboxError if it does not exist or cannot be used here."""
    backend = make_backend(name)
    if problem := backend.problem():
        raise SandboxError(problem)
    return backend


def chosen_backend(name: str | None) -> Backend:
    """Return the backend of that name, or the default if it is None. Raises SandboxError."""
    return backend(name) if name else default_backend()


def default_backend() -> Backend:
    """Return Docker if an engine answers or an image is set for it, else bubblewrap. Others have to be named."""
    if "sandbox_image" in settings().model_fields_set:
        try:
            return backend("docker")
        except SandboxError as error:
            hint = "`--sandbox bubblewrap` needs no image"
            raise SandboxError(f"STACKRANK_SANDBOX_IMAGE is set, but {error}; {hint}") from None
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
        if problem_of(name) is None:
            removed += make_backend(name).reap()
    return removed
