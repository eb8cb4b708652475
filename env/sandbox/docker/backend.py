"""Sandboxes as hardened containers of a Docker engine."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from stackrank.env.sandbox.base import BuildError, Channel, SandboxError, SandboxSpec, Say, silent
from stackrank.env.sandbox.bootstrap import loader_command
from stackrank.env.sandbox.docker.berths import Berths
from stackrank.env.sandbox.docker.channel import DockerChannel
from stackrank.env.sandbox.docker.engine import client, no_engine
from stackrank.env.sandbox.docker.environments import build, build_prefix
from stackrank.env.sandbox.docker.holders import MOST_MB, PROGRAM_MB, Holders
from stackrank.env.sandbox.docker.host_config import NO_MASKS, ROOT, berth_config, host_config, masks
from stackrank.env.sandbox.docker.policy import HOLDER, HOLDER_CAPABILITIES, OWNER_LABEL
from stackrank.env.task import Limits
from stackrank.home import is_dead, is_of_this_boot, process_mark
from stackrank.settings import settings

if TYPE_CHECKING:
    import docker

_USER = "1000:1000"
_NOTHING: Mapping[str, Any] = {}


class DockerBackend:
    """Plays sandboxes in berths, one after another, or else each in a container of its own."""

    name = "docker"

    def __init__(self, runtime: str | None = None) -> None:
        """`runtime`: an OCI runtime that the engine knows, such as gVisor's `runsc`; None for the engine's own."""
        self._runtime = runtime or settings().sandbox_runtime
        self._images: dict[SandboxSpec, str] = {}
        self._holders = Holders(self._start_holder)
        self._berths = Berths(self._start_berth)

    def problem(self) -> str | None:
        """Check that an engine answers and has the sandbox image."""
        from docker.errors import DockerException, ImageNotFound
        from requests.exceptions import RequestException

        image = settings().sandbox_image
        try:
            client().ping()
            client().images.get(image)
        except SandboxError as error:
            return str(error)
        except ImageNotFound:
            configured = "sandbox_image" in settings().model_fields_set
            remedy = "pull or build it, or correct the variable" if configured else "run `make setup-docker`"
            return f"the sandbox image {image} is missing: {remedy}"
        except (DockerException, RequestException) as error:
            client.cache_clear()
            return no_engine(error)
        return None

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Build the image of the spec's environment, or pull a prebuilt one, unless the engine already has it."""
        self._holders.hold(self._image(spec, say))

    def _image(self, spec: SandboxSpec, say: Say = silent) -> str:
        from docker.errors import DockerException, ImageNotFound
        from requests.exceptions import RequestException

        base = spec.image or settings().sandbox_image
        if spec.toolchain and not spec.image:
            base = settings().toolchain_image.format(spec.toolchain)
        if spec.environment is None and not spec.prefixes:
            return base
        if spec not in self._images:
            try:
                image = base if spec.environment is None else build(client(), base, spec.environment, OWNER_LABEL, say)
                for prefix in spec.prefixes:
                    image = build_prefix(client(), image, prefix, OWNER_LABEL, say)
                self._images[spec] = image
            except ImageNotFound:
                raise BuildError(f"the engine has no image {base}: pull it") from None
            except (DockerException, RequestException, OSError) as error:
                client.cache_clear()
                raise SandboxError(no_engine(error)) from None
        return self._images[spec]

    def start(self, spec: SandboxSpec) -> Channel:
        """Start a new sandbox. Raises SandboxError."""
        image = self._image(spec)
        channel: Channel | None = None
        problem = ""
        # gVisor has no calls that drop pages of files or say which are in memory, and no namespaces of this kind.
        if self._runtime != "runsc":
            problem = self._holders.hold(image)
            # Runtimes of other languages read their limits in /sys/fs/cgroup, which sandboxes in berths do not see.
            if not spec.toolchain:
                channel = self._berths.start(image, spec)
        if channel is None:
            channel = self._start(image, spec, "main")
        channel.shared = problem
        return channel

    def _start_berth(self, image: str, spec: SandboxSpec) -> DockerChannel:
        """Start the container of a berth."""
        return self._start(image, spec, "berth", more=berth_config(spec), paths=NO_MASKS)

    def _start_holder(self, image: str) -> DockerChannel:
        """Start the container that keeps an image in memory."""
        spec = SandboxSpec(limits=Limits(memory_mb=MOST_MB + PROGRAM_MB, disk_mb=1))
        more = {"cap_add": list(HOLDER_CAPABILITIES)}
        return self._start(image, spec, "holder", user=HOLDER, more=more)

    def _start(
        self,
        image: str,
        spec: SandboxSpec,
        program: str,
        user: str = _USER,
        more: Mapping[str, Any] = _NOTHING,
        paths: Mapping[str, Collection[str]] | None = None,
    ) -> DockerChannel:
        """Start a container in which the loader waits for a program of the guest. Raises SandboxError.

        `more`: what differs from the host configuration of a sandbox. `paths`: what the engine masks, if not that.
        """
        from docker.errors import APIError, DockerException, ImageNotFound
        from requests.exceptions import RequestException

        name = f"stackrank-{'' if program == 'main' else program + '-'}{uuid.uuid4().hex[:12]}"
        host = {**host_config(spec, self._runtime), **more}
        try:
            api = client().api
            created = api.create_container(
                image,
                entrypoint=loader_command("python3", program=program),
                command=[],
                name=name,
                hostname="sandbox",
                user=user,
                working_dir=ROOT,
                stdin_open=True,  # once: when this process ends, the guest's input ends, and then the guest
                network_disabled=True,
                use_config_proxy=False,  # it could only keep programs from the loopback address
                labels={OWNER_LABEL: process_mark()},
                host_config={**api.create_host_config(**host), **(masks(spec) if paths is None else paths)},
            )
            channel = DockerChannel(created["Id"], name)
            try:
                api.start(created["Id"])
            except BaseException:
                channel.close()
                raise
        except ImageNotFound:
            raise SandboxError(f"the engine has no image {image}: run deploy/sandbox/build.sh, or pull it") from None
        except APIError as error:
            raise SandboxError(f"the Docker engine refused a sandbox: {error.explanation}") from None
        except (DockerException, RequestException, OSError) as error:
            client.cache_clear()
            raise SandboxError(no_engine(error)) from None
        return channel

    def reap(self) -> list[str]:
        """Remove containers whose owner process is dead."""
        from docker.errors import APIError

        removed = []
        engine = client()
        is_local = _is_local(engine)
        for container in engine.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True):
            owner = container.labels[OWNER_LABEL]
            # An engine elsewhere also has sandboxes of other machines, whose boots this machine does not know.
            if is_dead(owner) or (is_local and not is_of_this_boot(owner)):
                try:
                    container.remove(force=True, v=True)
                    removed.append(str(container.name))
                except APIError:
                    continue  # it is being removed already
        return removed


def _is_local(engine: docker.DockerClient) -> bool:
    """Return whether an engine is known to run on this machine."""
    from docker.errors import APIError

    if not engine.api.base_url.startswith("http+docker://"):
        return False
    try:
        return bool(engine.info()["Name"] == socket.gethostname())
    except APIError:  # a proxy refuses to answer this
        return False
