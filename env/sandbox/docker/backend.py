"""Sandboxes as hardened containers of a Docker engine."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import time
import uuid
from typing import TYPE_CHECKING, Any

from stackrank.env.sandbox.base import (
    CHECK_EVERY_S,
    PROC_HIDDEN,
    PROC_READ_ONLY,
    BuildError,
    SandboxError,
    SandboxSpec,
    Say,
    silent,
)
from stackrank.env.sandbox.bootstrap import loader_command
from stackrank.env.sandbox.bubblewrap.cgroups import find_cgroup
from stackrank.env.sandbox.closer import Closer
from stackrank.env.sandbox.docker.engine import client, client_with, no_engine
from stackrank.env.sandbox.docker.environments import build, build_prefix
from stackrank.env.sandbox.docker.holders import MOST_MB, PROGRAM_MB, Holders
from stackrank.env.sandbox.docker.host_config import ROOT, host_config
from stackrank.env.sandbox.docker.policy import HOLDER, HOLDER_CAPABILITIES, OWNER_LABEL
from stackrank.env.sandbox.environments import PREFIXES
from stackrank.env.task import Limits
from stackrank.home import is_dead, is_of_this_boot, process_mark
from stackrank.settings import settings

if TYPE_CHECKING:
    import docker

_USER = "1000:1000"
_CHECK_S = 5
"""How long the engine may take to say whether a container runs, while its guest's answer is awaited."""
_PATIENCE_S = 2
"""How long a closed sandbox's container may take to end by itself, before it is killed."""


class DockerChannel:
    """The channel to a guest that is process 1 of a container, over the engine's attach connection."""

    def __init__(self, container_id: str, name: str, spec: SandboxSpec) -> None:
        self.root = ROOT
        self.name = name
        self.prefixes = PREFIXES
        self.shared = ""
        self.guest_limits: dict[str, int] = {"max_files": 1024, "confine": True}
        self._id = container_id
        self._api = client().api
        self._pending = bytearray()
        self._errors = b""
        self._frame_left = 0
        self._stream = 0
        self._closer = Closer(self._remove)
        # Attach before the container starts, so that no output is missed.
        wrapped = self._api.attach_socket(
            container_id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1, "logs": 0}
        )
        self._keep = wrapped
        self._socket = getattr(wrapped, "_sock", wrapped)
        self._socket.settimeout(None)

    def send(self, data: bytes) -> None:
        """Write all of `data`."""
        try:
            self._socket.sendall(data)
        except OSError:
            raise self._lost() from None

    def receive(self, size: int, deadline: float) -> bytes:
        """Read 1 to `size` bytes that the guest sent. Its standard error is kept for error messages."""
        while True:
            while self._frame_left == 0:
                # A frame header of the engine's multiplexed stream: 1 byte stream, 3 unused bytes, 4 bytes length.
                # https://docs.docker.com/reference/api/engine/ (ContainerAttach, 'Stream format')
                self._stream, self._frame_left = struct.unpack("!BxxxI", self._read_exactly(8, deadline))
            chunk = self._read_some(min(size if self._stream == 1 else self._frame_left, self._frame_left), deadline)
            self._frame_left -= len(chunk)
            if self._stream == 1:
                return chunk
            self._errors = (self._errors + chunk)[-2000:]

    def hung_up(self) -> bool:
        """Whether the other side is gone. Only while it sends nothing."""
        return bool(select.select([self._socket], [], [], 0)[0])

    def _read_exactly(self, size: int, deadline: float) -> bytes:
        data = b""
        while len(data) < size:
            data += self._read_some(size - len(data), deadline)
        return data

    def _read_some(self, size: int, deadline: float) -> bytes:
        while not self._pending:
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                raise SandboxError(f"sandbox {self.name} does not answer")
            ready, _, _ = select.select([self._socket], [], [], min(remaining_s, CHECK_EVERY_S))
            if not ready:
                self._check()
                continue
            try:
                data = self._socket.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                raise self._lost()
            self._pending += data
        chunk = bytes(self._pending[:size])
        del self._pending[:size]
        return chunk

    def _check(self) -> None:
        """Raise SandboxError if an answer can no longer come. A paused container keeps its connection open."""
        from docker.errors import APIError
        from requests.exceptions import RequestException

        try:
            state = client_with(_CHECK_S).inspect_container(self._id)["State"]
        except APIError:
            raise self._lost() from None
        except RequestException as error:
            raise SandboxError(no_engine(error)) from None
        if state["Paused"]:
            raise SandboxError(f"sandbox {self.name} was paused")
        if not state["Running"]:
            raise self._lost()

    def _lost(self) -> SandboxError:
        errors = self._errors.decode("utf-8", "replace").strip().replace("\n", " | ")
        return SandboxError(f"sandbox {self.name} is gone{': ' + errors if errors else ''}")

    def used_s(self) -> float:
        """Return the container's processor seconds: from the kernel if the engine is local, else from the engine.

        Some engines take a sample once a second, and answer only with the next one.
        """
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        try:
            group = find_cgroup(client_with(_CHECK_S).inspect_container(self._id)["State"]["Pid"], self._id)
            if group is not None:
                return group.used_s()
            stats = client_with(_CHECK_S).stats(self._id, stream=False, one_shot=True)
            return int(stats["cpu_stats"]["cpu_usage"]["total_usage"]) / 1e9
        except (DockerException, RequestException, KeyError):
            return 0.0

    def close(self) -> None:
        """Disconnect, and remove the container in the background."""
        self._closer.start()

    def join(self, timeout_s: float) -> bool:
        """Close the channel, and wait. Returns whether nothing of the sandbox runs any more."""
        return self._closer.wait(timeout_s)

    def _remove(self) -> None:
        from docker.errors import APIError

        self._keep.close()
        self._socket.close()
        if self._exits_by_itself():
            return
        # The container may be gone already. If the engine is, `gc` later finds the container by its label.
        with contextlib.suppress(APIError, OSError):
            with contextlib.suppress(APIError):
                self._api.remove_container(self._id, force=True, v=True)
                return
            self._api.unpause(self._id)  # some engines do not kill paused containers
            self._api.remove_container(self._id, force=True, v=True)

    def _exits_by_itself(self) -> bool:
        """Return whether the container ends by itself, as its guest does after the disconnect: a kill costs more."""
        from docker.errors import APIError, NotFound
        from requests.exceptions import RequestException

        try:
            self._api.wait(self._id, timeout=_PATIENCE_S, condition="removed")
        except NotFound:
            return True
        except (APIError, RequestException):
            return False
        return True


class DockerBackend:
    """One container per sandbox."""

    name = "docker"

    def __init__(self, runtime: str | None = None) -> None:
        """`runtime`: an OCI runtime that the engine knows, such as gVisor's `runsc`; None for the engine's own."""
        self._runtime = runtime or settings().sandbox_runtime
        self._images: dict[SandboxSpec, str] = {}
        self._holders = Holders(self._start_holder)

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

    def start(self, spec: SandboxSpec) -> DockerChannel:
        """Start a new container. Raises SandboxError."""
        image = self._image(spec)
        # gVisor has no calls that drop pages of files or say which are in memory.
        problem = "" if self._runtime == "runsc" else self._holders.hold(image)
        channel = self._start(image, spec, "main")
        channel.shared = problem
        return channel

    def _start_holder(self, image: str) -> DockerChannel:
        """Start the container that keeps an image in memory."""
        spec = SandboxSpec(limits=Limits(memory_mb=MOST_MB + PROGRAM_MB, disk_mb=1))
        return self._start(image, spec, "holder", user=HOLDER, cap_add=list(HOLDER_CAPABILITIES))

    def _start(
        self, image: str, spec: SandboxSpec, program: str, user: str = _USER, **more_host_config: Any
    ) -> DockerChannel:
        """Start a container in which the loader waits for a program of the guest. Raises SandboxError."""
        from docker.errors import APIError, DockerException, ImageNotFound
        from requests.exceptions import RequestException

        name = f"stackrank-{'' if program == 'main' else program + '-'}{uuid.uuid4().hex[:12]}"
        host = host_config(spec, self._runtime) | more_host_config
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
                labels={**dict(spec.labels), OWNER_LABEL: process_mark()},
                host_config={
                    **api.create_host_config(**host),
                    "ReadonlyPaths": PROC_READ_ONLY,
                    "MaskedPaths": (*PROC_HIDDEN, "/sys/firmware", "/sys/devices/virtual/powercap"),
                },
            )
            channel = DockerChannel(created["Id"], name, spec)
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
