"""Berths: containers in which sandboxes are played one after another, so that few need a container of their own.

The program in a berth forks them; see the guest's `berth`, and decision 25 for why this is as safe.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

from stackrank.env.sandbox.base import SandboxError, SandboxSpec
from stackrank.env.sandbox.bootstrap import guest_code
from stackrank.env.sandbox.closer import ClosesOnce
from stackrank.env.sandbox.docker.channel import DockerChannel
from stackrank.env.sandbox.docker.host_config import room
from stackrank.env.sandbox.factory import CannotFork
from stackrank.env.sandbox.guest.core.berth import CODE, DATA, END, HEADER, START, USED
from stackrank.env.sandbox.variables import variables_of

log = logging.getLogger(__name__)
_START_PATIENCE_S = 60.0
_ANSWER_PATIENCE_S = 60.0
"""How long a berth may take to answer. On a busy machine it answers late, and no sandbox may be lost for that."""
_END_PATIENCE_S = 2.0
"""How long a sandbox may take to end, before its container is removed."""
_REMOVAL_PATIENCE_S = 60.0
_KEPT = 8
"""Berths kept waiting at the same time; each takes some 40 MB."""
_IDLE_S = 300.0
"""How long a berth waits for its next sandbox: a run may be paused, or have less to do than it had."""
_REFUSALS = 3
"""How many berths in a row may be unable to fork before this process stops trying."""
_LONGEST = 1 << 20
"""The most bytes of a message from a berth."""

Kind = tuple[object, ...]
"""What sandboxes have in common that can be played in the same berth."""


class Berth:
    """A container with the guest's program `berth`: its messages."""

    def __init__(self, carrier: DockerChannel, kind: Kind, spec: SandboxSpec) -> None:
        """`carrier`: the channel to a container in which the loader waits. Raises CannotFork and SandboxError."""
        self.carrier = carrier
        self.kind = kind
        self.idle_since = 0.0
        """When its last sandbox ended, by the monotonic clock."""
        try:
            carrier.send(guest_code())
            self.start({"env": variables_of(spec), "root": carrier.root, "python": not spec.has_artefacts})
        except BaseException:
            carrier.close()
            raise

    def start(self, request: dict[str, Any]) -> None:
        """Start the program, or a sandbox. Raises CannotFork and SandboxError."""
        self.carrier.forget_errors()
        self.send(START, json.dumps(request).encode())
        kind, problem = self.receive(time.monotonic() + _START_PATIENCE_S)
        if kind != START or problem:
            raise CannotFork(str(problem))

    def send(self, kind: bytes, content: bytes = b"null") -> None:
        """Send a message. Raises SandboxError."""
        self.carrier.send(HEADER.pack(kind, len(content)) + content)

    def receive(self, deadline: float) -> tuple[bytes, Any]:
        """Return the kind and the content of the next message. Raises SandboxError."""
        kind, length = HEADER.unpack(self._exactly(HEADER.size, deadline))
        if length > _LONGEST:
            raise SandboxError(f"the berth {self.carrier.name} sends too much")
        content = self._exactly(length, deadline)
        return kind, content if kind == DATA else json.loads(content)

    def _exactly(self, size: int, deadline: float) -> bytes:
        data = b""
        while len(data) < size:
            data += self.carrier.receive(size - len(data), deadline)
        return data


class BerthChannel(ClosesOnce):
    """The channel to the guest of a sandbox in a berth. See `env.sandbox.base.Channel`.

    When the sandbox has ended, the berth is another one's, and this channel does not touch it any more.
    """

    def __init__(self, berth: Berth, spec: SandboxSpec, give_back: Callable[[Berth], None]) -> None:
        """Start the sandbox. Raises CannotFork and SandboxError."""
        super().__init__()
        carrier = berth.carrier
        self.root, self.name, self.prefixes = carrier.root, carrier.name, carrier.prefixes
        self.shared, self.guest_limits = carrier.shared, carrier.guest_limits
        self.berth = berth
        self._give_back = give_back
        self._sending, self._arrival = threading.Lock(), threading.Condition(threading.Lock())
        self._closing = self._taking = self._ended = self._broken = False
        self._data = bytearray()
        self._used_s: list[float] = []
        berth.start({"room": room(spec), "limits": self.guest_limits})

    def send(self, data: bytes) -> None:
        """Write all of `data`."""
        with self._sending:
            if self._closing:
                raise SandboxError(f"sandbox {self.name} was closed")
            if data is guest_code():  # half a megabyte, which the berth has
                self.berth.send(CODE)
            else:
                self.berth.send(DATA, data)

    def receive(self, size: int, deadline: float) -> bytes:
        """Read 1 to `size` bytes that the guest sent."""
        with self._arrival:
            self._await(lambda: bool(self._data), deadline)
            chunk = bytes(self._data[:size])
            del self._data[:size]
            return chunk

    def _await(self, has_arrived: Callable[[], bool], deadline: float) -> None:
        """Wait for something from the berth; the caller holds `_arrival`. Raises SandboxError, also once it ended.

        Several threads may wait, one for data and one for the processor time: whoever takes a message takes it for all.
        """
        while not has_arrived():
            if self._ended:
                raise SandboxError(f"sandbox {self.name} has ended")
            if not self._taking:
                self._take(deadline)
            elif not self._arrival.wait(max(0.0, deadline - time.monotonic())):
                raise SandboxError(f"sandbox {self.name} does not answer")

    def _take(self, deadline: float) -> None:
        """Take a message of the berth. Raises SandboxError, also if it says that the sandbox has ended."""
        self._taking = True
        self._arrival.release()
        try:
            kind, content = self.berth.receive(deadline)
        except SandboxError:
            self._broken = self._ended = True
            raise
        finally:
            self._arrival.acquire()
            self._taking = False
            self._arrival.notify_all()
        if kind == DATA and not self._closing:
            self._data += content
        elif kind == USED:
            self._used_s.append(float(content))
        elif kind == END:
            self._ended = True
            raise self.berth.carrier.lost()

    def used_s(self) -> float:
        """Return the processor seconds used since the sandbox was started, by the control group of its container."""
        try:
            with self._sending:
                if self._closing:
                    return 0.0
                self.berth.send(USED)
            with self._arrival:
                self._await(lambda: bool(self._used_s), time.monotonic() + _ANSWER_PATIENCE_S)
                return self._used_s.pop(0)
        except SandboxError:
            return 0.0

    def _end(self) -> None:
        """End the sandbox, and leave the berth to another one."""
        if self._told_to_end() and self._has_ended():
            self._give_back(self.berth)
        else:
            self.berth.carrier.join(_REMOVAL_PATIENCE_S)

    def _told_to_end(self) -> bool:
        if not self._sending.acquire(timeout=_END_PATIENCE_S):
            return False
        try:
            self._closing = True
            self.berth.send(END)
        except SandboxError:
            return False
        finally:
            self._sending.release()
        return True

    def _has_ended(self) -> bool:
        with self._arrival, contextlib.suppress(SandboxError):
            self._data.clear()
            self._await(lambda: self._ended, time.monotonic() + _END_PATIENCE_S)
        return self._ended and not self._broken


class Berths:
    """The berths of this process. Thread-safe."""

    def __init__(self, make: Callable[[str, SandboxSpec], DockerChannel]) -> None:
        """`make` starts a container of an image in which the loader waits for the program `berth`."""
        self._make = make
        self._idle: list[Berth] = []
        """Those that wait, the longest first."""
        self._timer: threading.Timer | None = None
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._refusals = 0

    def start(self, image: str, spec: SandboxSpec) -> BerthChannel | None:
        """Start a sandbox in a berth. Returns None if it needs a container of its own."""
        # The Python that is ready for tests in a berth has these variables.
        kind = (image, spec.limits, tuple(variables_of(spec).items()), spec.has_artefacts)
        new = False
        while self._refusals < _REFUSALS and not new:
            berth = self._take(kind)
            new = berth is None
            try:
                berth = berth or Berth(self._make(image, spec), kind, spec)
                channel = BerthChannel(berth, spec, self._keep)
            except CannotFork as error:
                log.warning("a sandbox gets a container of its own, as it cannot be forked: %s", error)
                self._refusals += 1
                new = True
            except SandboxError as error:
                log.warning("a berth cannot be used: %s", error)
            else:
                self._refusals = 0
                return channel
            if berth is not None:
                berth.carrier.close()
        return None

    def _take(self, kind: Kind) -> Berth | None:
        """Take the berth of this kind that was used last."""
        with self._lock:
            if self._process != os.getpid():  # a fork of this process inherits the connections, but must not use them
                self._idle, self._timer, self._process = [], None, os.getpid()
            found = next((berth for berth in reversed(self._idle) if berth.kind == kind), None)
            if found is not None:
                self._idle.remove(found)
            return found

    def _keep(self, berth: Berth) -> None:
        with self._lock:
            berth.idle_since = time.monotonic()
            self._idle.append(berth)
            surplus = [self._idle.pop(0) for _ in range(len(self._idle) - _KEPT)]
            self._watch()
        for old in surplus:
            old.carrier.close()

    def _watch(self) -> None:
        """Look again when the berth that waits longest has waited long enough. The caller holds the lock."""
        if self._idle and self._timer is None:
            due_s = self._idle[0].idle_since + _IDLE_S - time.monotonic()
            self._timer = threading.Timer(max(0.0, due_s), self._close_idle)
            self._timer.daemon = True
            self._timer.start()

    def _close_idle(self) -> None:
        with self._lock:
            self._timer = None
            latest = time.monotonic() - _IDLE_S
            overdue = [berth for berth in self._idle if berth.idle_since <= latest]
            self._idle = self._idle[len(overdue) :]
            self._watch()
        for berth in overdue:
            berth.carrier.close()
