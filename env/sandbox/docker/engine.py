"""The connections to a Docker engine."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from stackrank.env.sandbox.base import SandboxError

if TYPE_CHECKING:
    import docker


@functools.cache
def client() -> docker.DockerClient:
    """Return the process's one client, with its connection pool. Raises SandboxError if no engine answers."""
    import docker
    from docker.errors import DockerException

    try:
        engine = docker.from_env(timeout=30, max_pool_size=64)
    except DockerException as error:
        raise SandboxError(no_engine(error)) from None
    _forget_proxies(engine.api)
    return engine


@functools.cache
def client_with(timeout_s: int) -> docker.APIClient:
    """Return a client with a timeout of its own: short to check on a container, long where the engine works hard."""
    import docker
    from docker.utils import kwargs_from_env

    api = docker.APIClient(timeout=timeout_s, **kwargs_from_env())
    _forget_proxies(api)
    return api


def _forget_proxies(api: docker.APIClient) -> None:
    """Stop a client from looking for proxies in the environment, if its engine has a local socket.

    Looking for them at each request is slow, and raises KeyError if another thread removes a variable meanwhile.
    """
    if api.base_url.startswith("http+docker://"):
        api.trust_env = False


def no_engine(error: Exception) -> str:
    """Return the sentence for an engine that does not answer."""
    return (
        "no Docker engine answers: start it (`sudo systemctl start docker`, or `dockerd`), "
        f"or use --sandbox bubblewrap ({str(error).splitlines()[0][:160]})"
    )
