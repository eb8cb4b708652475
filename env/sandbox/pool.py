"""Sandboxes started ahead of time, so that episodes do not wait for them."""

from __future__ import annotations

import logging
import threading
from collections import Counter, OrderedDict, deque
from itertools import islice

import psutil

from stackrank.env.sandbox.base import Backend, SandboxClosed, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox

log = logging.getLogger(__name__)
_OFTEN = 2
"""Requests for a specification after which further ones are expected."""


class Pool:
    """Keeps a few sandboxes ready for each specification that was requested recently and more than once. Thread-safe.

    If each task has its own environment, no specification is requested again, and starting ahead would be a waste.
    Each sandbox is handed out once. From then on it belongs to its taker, and it never comes back.
    """

    def __init__(self, backend: Backend, *, size: int = 2, memory_mb: int | None = None) -> None:
        """At most `size` sandboxes wait at the same time, and their memory limits add up to at most `memory_mb`.

        `memory_mb`: None means half of this machine's memory. `size` 0: nothing is started ahead.
        """
        self._backend = backend
        self._size = size
        self._memory_mb = memory_mb if memory_mb is not None else psutil.virtual_memory().total // 2 >> 20
        self._ready: OrderedDict[SandboxSpec, deque[Sandbox]] = OrderedDict()
        self._starting: dict[SandboxSpec, int] = {}
        self._waiting: dict[SandboxSpec, int] = {}
        self._failed: set[SandboxSpec] = set()
        self._requests: Counter[SandboxSpec] = Counter()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, spec: SandboxSpec) -> Sandbox:
        """Return an unused sandbox: one that is ready, one that is starting, or a new one.

        Raises SandboxError, also if the pool is closed.
        """
        while True:
            sandbox = self._next(spec)
            if sandbox is None:
                return Sandbox(self._backend, spec)
            try:
                sandbox.ping()
            except SandboxClosed:
                continue
            except SandboxError as error:
                log.warning("a waiting sandbox had died: %s", error)
                sandbox.close()
                continue
            return sandbox

    def expect(self, spec: SandboxSpec) -> None:
        """Start sandboxes of this specification ahead, because one will be requested soon."""
        with self._changed:
            self._requests[spec] += _OFTEN
            self._demand(spec)

    def close(self) -> None:
        """End the waiting sandboxes. Those already taken live on. May be called twice."""
        with self._changed:
            self._closed = True
            waiting = [sandbox for line in self._ready.values() for sandbox in line]
            self._ready.clear()
            self._changed.notify_all()
        for sandbox in waiting:
            sandbox.close()
        if self._thread is not None:
            self._thread.join()

    def waiting(self) -> int:
        """Return how many sandboxes are ready."""
        with self._changed:
            return sum(map(len, self._ready.values()))

    # ---- inside the lock

    def _next(self, spec: SandboxSpec) -> Sandbox | None:
        with self._changed:
            self._requests[spec] += 1
            self._demand(spec)
            while not self._closed:
                line = self._ready.get(spec)
                if line:
                    sandbox = line.popleft()
                    self._changed.notify_all()
                    return sandbox
                if self._starting.get(spec, 0) <= self._waiting.get(spec, 0):
                    return None
                # A sandbox that is already starting is ready sooner than a new one.
                self._waiting[spec] = self._waiting.get(spec, 0) + 1
                self._changed.wait()
                self._waiting[spec] -= 1
            raise SandboxError("the pool of sandboxes is closed")

    def _demand(self, spec: SandboxSpec) -> None:
        if self._closed:
            raise SandboxError("the pool of sandboxes is closed")
        self._ready.setdefault(spec, deque())
        self._ready.move_to_end(spec)
        self._failed.discard(spec)
        if self._thread is None and self._size:
            self._thread = threading.Thread(target=self._fill, name="sandbox-pool", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _next_to_start(self) -> SandboxSpec | None:
        """Return what to start next: the latest specification comes first, and gets at least as many as any other."""
        latest = (spec for spec in reversed(self._ready) if spec not in self._failed)
        kinds = list(islice(latest, max(self._size, 1)))
        if not kinds:
            return None
        share = max(self._size // len(kinds), 1)
        for spec in kinds:
            if self._requests[spec] >= _OFTEN and len(self._ready[spec]) < share and self._make_room(spec):
                return spec
        return None

    def _make_room(self, spec: SandboxSpec) -> bool:
        """End the sandboxes not requested recently, as far as needed. Returns whether there is room for one more."""
        while True:
            count = sum(map(len, self._ready.values()))
            memory = sum(waiting_spec.limits.memory_mb * len(line) for waiting_spec, line in self._ready.items())
            if count < self._size and memory + spec.limits.memory_mb <= self._memory_mb:
                return True
            # `_ready` is in the order of the last request, so nothing requested after `spec` is ended for it.
            first = next(
                (waiting_spec for waiting_spec, line in self._ready.items() if line or waiting_spec == spec), spec
            )
            if first == spec:
                return False
            self._ready[first].popleft().close()

    # ---- the thread that starts them

    def _fill(self) -> None:
        while True:
            with self._changed:
                spec = self._next_to_start()
                while spec is None and not self._closed:
                    self._changed.wait()
                    spec = self._next_to_start()
                if self._closed or spec is None:
                    return
                self._starting[spec] = self._starting.get(spec, 0) + 1
            sandbox: Sandbox | None = None
            try:
                sandbox = Sandbox(self._backend, spec)
                # With such an environment, the workspace may be on Python's path, and it is not filled yet.
                if spec.warm and not spec.has_artefacts:
                    sandbox.prepare()
            except SandboxError as error:
                # The next taker starts a sandbox directly, and sees why that fails.
                if not self._closed:
                    log.warning("no sandbox could be started ahead: %s", error)
                if sandbox is not None:
                    sandbox.close()
                sandbox = None
            with self._changed:
                self._starting[spec] -= 1
                if sandbox is None:
                    self._failed.add(spec)
                elif self._closed:
                    sandbox.close()
                else:
                    self._ready.setdefault(spec, deque()).append(sandbox)
                self._changed.notify_all()
