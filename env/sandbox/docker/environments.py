"""Environments as images of a Docker engine: `stackrank-env:<digest>`."""

from __future__ import annotations

import hashlib
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import BuildError, Say
from stackrank.env.sandbox.docker.engine import client_with
from stackrank.env.sandbox.docker.policy import REPOSITORY
from stackrank.env.sandbox.environments import (
    HOME,
    SOURCE,
    TIMEOUT_S,
    archive,
    build_context,
    build_script,
    build_timeout,
    describe,
    find_reason,
    pip_settings,
)
from stackrank.home import locked, process_mark
from stackrank.host.underway import underway

if TYPE_CHECKING:
    import docker

LABEL = "stackrank.environment"
_PIP_FILES = "/opt/stackrank-pip"
"""Folder for the files that pip's settings name, while a layer is built."""


def build_prefix(engine: docker.DockerClient, base: str, prefix: Environment, mark: str, say: Say) -> str:
    """Return the name of the image with a prefix on top of `base`, building it if it is missing. Raises as `build`."""
    return _layer(engine, base, prefix, "prefix", mark, say)


def build(engine: docker.DockerClient, base: str, environment: Environment, mark: str, say: Say) -> str:
    """Return the name of an environment's image on a base image, building it if it is missing.

    Raises BuildError if it cannot be built, docker's ImageNotFound if the base is missing.
    """
    if environment.prebuilt:
        problem = _pull(engine, environment.prebuilt)
        if not problem:
            return _layer(engine, environment.prebuilt, environment, "adopt", mark, say)
        if not environment.can_be_built:
            raise BuildError(
                f"the image {environment.prebuilt} cannot be pulled ({problem}); if it is of SWE-bench, --environments "
                "FILE says how to build it here (see docs/reference/benchmarks.md)"
            )
    image = _layer(engine, base, environment.base, "packages", mark, say)
    return _layer(engine, image, environment, "setup", mark, say) if environment.setup else image


_unreachable: dict[str, str] = {}
"""Registries that did not answer, with the reason. This process does not ask them again."""


def _pull(engine: docker.DockerClient, image: str) -> str:
    """Pull an image unless the engine has it. Returns why that failed, or an empty text."""
    from docker.auth import resolve_repository_name
    from docker.errors import APIError, ImageNotFound

    registry = resolve_repository_name(image)[0]
    try:
        engine.images.get(image)
        return ""
    except ImageNotFound:
        if registry in _unreachable:
            return _unreachable[registry]
    try:
        name, _, tag = image.rpartition(":")
        engine.api.pull(name, tag=tag)
        engine.images.get(image)
    except ImageNotFound:
        return "the registry does not have it"
    except APIError as error:
        _unreachable[registry] = str(error.explanation)
        return str(error.explanation)
    return ""


def _layer(engine: docker.DockerClient, base: str, environment: Environment, part: str, mark: str, say: Say) -> str:
    from docker.errors import ImageNotFound

    base_image = engine.images.get(base)
    # Empty the workspace afterwards: every sandbox fills its own.
    text = f"{build_script(environment, part)}\ncd /\nfind {SOURCE} -mindepth 1 -delete\n"
    if part == "packages":  # remove the base image's own packages: if a task is about one, a later version has the fix
        text += "rm -rf /opt/sandbox/lib/python3*/site-packages\n"
    identity = f"{base_image.id} {environment.digest} {text}"
    digest = hashlib.sha256(identity.encode()).hexdigest()[:16]
    tag = f"{REPOSITORY}:{digest}"
    with locked(f"environments/docker-{digest}"):
        try:
            engine.images.get(tag)
        except ImageNotFound:
            started = time.monotonic()
            with underway(f"building the environment {digest}: {describe(environment, part)}", say):
                _commit(base_image.attrs, environment, part, text, digest, mark)
            say(f"the environment {digest} was built in {time.monotonic() - started:.0f} s")
    return tag


def _commit(
    base: dict[str, Any],
    environment: Environment,
    part: str,
    text: str,
    digest: str,
    mark: str,
) -> None:
    """Run the script in a container of the base image, and commit the result as an image."""
    from docker.errors import APIError
    from requests.exceptions import ConnectionError, ReadTimeout

    # Committing a large environment takes the engine minutes.
    api = client_with(TIMEOUT_S)
    variables, mounts = pip_settings()
    # Copy files, such as certificates: an engine behind a proxy or on another machine cannot see this file system.
    files = [path for path in mounts if Path(path).is_file()]
    folders = [path for path in mounts if path not in files]
    for mount in files:
        variables = {name: value.replace(mount, f"{_PIP_FILES}{mount}") for name, value in variables.items()}
    created = api.create_container(
        base["Id"],
        name=f"stackrank-build-{uuid.uuid4().hex[:12]}",
        entrypoint=["/bin/sh", "-c", f"{text}rm -rf {_PIP_FILES}\n"],
        command=[],
        user="0:0",
        working_dir=SOURCE,
        environment={**variables, **dict(environment.variables), "HOME": "/root"},
        labels={mark: process_mark()},
        host_config=api.create_host_config(
            binds=[f"{path}:{path}:ro" for path in folders] or None, mem_limit="4g", pids_limit=4096
        ),
    )["Id"]
    try:
        api.put_archive(created, "/", build_context(environment, part))
        if files:
            api.put_archive(created, "/", archive({f"{_PIP_FILES}{path}": Path(path).read_bytes() for path in files}))
        api.start(created)
        try:
            status = api.wait(created, timeout=TIMEOUT_S)["StatusCode"]
        except (ConnectionError, ReadTimeout):
            raise build_timeout() from None
        if status:
            output = api.logs(created, stdout=True, stderr=True, tail=200).decode("utf-8", "replace")
            reason = find_reason(output)
            if reason.startswith("it needs Python"):
                reason += ": name an image that has it in STACKRANK_SANDBOX_IMAGE"
            raise BuildError(f"the environment cannot be built: {reason}")
        old = dict(entry.split("=", 1) for entry in base["Config"]["Env"] or [])
        search_path = old.get("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        if part != "prefix" and not search_path.startswith(f"{HOME}/"):
            search_path = f"{HOME}/bin:{search_path}"
        # The image does not inherit the build's variables and command.
        settings: dict[str, Any] = {**base["Config"], "Labels": {LABEL: environment.digest}}
        settings["Env"] = [f"{name}={value}" for name, value in {**old, "PATH": search_path}.items()]
        api.commit(created, REPOSITORY, digest, conf=settings)
    except APIError as error:
        raise BuildError(f"the environment cannot be built: {error.explanation}") from None
    finally:
        api.remove_container(created, force=True, v=True)
