"""The sandboxes that one process uses for a run, or for work on many tasks."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task

Result = TypeVar("Result")


class SandboxLease:
    """Records which sandboxes one user took from a pool, so that all of them can be ended. Thread-safe."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[Sandbox] = weakref.WeakSet()
        self._is_ended = False

    def new(self, spec: SandboxSpec) -> Sandbox:
        """Take a sandbox from the pool. After `end`, it is already closed. Raises SandboxError."""
        sandbox = self._pool.take(spec)
        with self._lock:
            self._open.add(sandbox)
            is_late = self._is_ended
        if is_late:  # `end` was called while the pool gave it out
            sandbox.close()
        return sandbox

    def end(self) -> None:
        """Close every sandbox, even those in use."""
        with self._lock:
            self._is_ended = True
            open_sandboxes = list(self._open)
        for sandbox in open_sandboxes:
            sandbox.close()


class RunSandboxes:
    """Gives out sandboxes from its own pool, and can end all of them. Thread-safe."""

    def __init__(self, backend: Backend, *, size: int) -> None:
        """`size`: how many episodes are played at the same time."""
        # At least one of each kind: an episode takes one for the agent, and then one for the verdict.
        self._pool = Pool(backend, size=max(size, 2))
        self._lease = SandboxLease(self._pool)
        self.new = self._lease.new
        self.expect = self._pool.expect

    def end(self) -> None:
        """Close every sandbox, even those in use."""
        self._pool.close()
        self._lease.end()

    def close(self) -> None:
        """Close the sandboxes that were started ahead."""
        self._pool.close()


def map_tasks(
    work: Callable[[Task, NewSandbox], Result], tasks: Sequence[Task], backend: Backend, workers: int
) -> Generator[Result, None, None]:
    """Yield the result for each task as it comes. Closing the generator ends the sandboxes without waiting."""
    sandboxes = RunSandboxes(backend, size=workers)
    threads = ThreadPoolExecutor(max_workers=workers)
    try:
        for future in as_completed([threads.submit(work, task, sandboxes.new) for task in tasks]):
            yield future.result()
    finally:
        sandboxes.end()
        threads.shutdown(cancel_futures=True)
