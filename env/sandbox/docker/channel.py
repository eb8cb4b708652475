"""The channel to the program that is process 1 of a container."""

from __future__ import annotations

import contextlib
import select
import struct
import time

from stackrank.env.sandbox.base import CHECK_EVERY_S, SandboxError
from stackrank.env.sandbox.bubblewrap.cgroups import find_cgroup
from stackrank.env.sandbox.closer import ClosesOnce
from stackrank.env.sandbox.docker.engine import client, client_with, no_engine
from stackrank.env.sandbox.docker.host_config import ROOT
from stackrank.env.sandbox.environments import PREFIXES

_CHECK_S = 5
"""How long the engine may take to say whether a container runs, while its guest's answer is awaited."""
_PATIENCE_S = 2
"""How long a closed sandbox's container may take to end by itself, before it is killed."""


class DockerChannel(ClosesOnce):
    """The channel to a guest that is process 1 of a container, over the engine's attach connection."""

    def __init__(self, container_id: str, name: str) -> None:
        super().__init__()
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
            raise self.lost() from None

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
                raise self.lost()
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
            raise self.lost() from None
        except RequestException as error:
            raise SandboxError(no_engine(error)) from None
        if state["Paused"]:
            raise SandboxError(f"sandbox {self.name} was paused")
        if not state["Running"]:
            raise self.lost()

    def forget_errors(self) -> None:
        """Forget what came from the standard error of the container until now."""
        self._errors = b""

    def lost(self) -> SandboxError:
        """Return the error that says that the sandbox is gone."""
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

    def _end(self) -> None:
        """Disconnect, and remove the container."""
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
