"""The sandboxes of a run in one process, or of work on many tasks."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TypeVar

from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.pool import Pool
from stackrank.env.scoring.verdict import NewSandbox
from stackrank.env.task import Task

Result = TypeVar("Result")


class Lent:
    """The sandboxes that one user took from a pool, so that all of them can be ended. Safe to use from many threads."""

    def __init__(self, pool: Pool, labels: tuple[tuple[str, str], ...] = ()) -> None:
        """`labels`: put on sandboxes that are not from the pool's stock."""
        self._pool = pool
        self._labels = labels
        self._lock = threading.Lock()
        self._open: weakref.WeakSet[Sandbox] = weakref.WeakSet()
        self._ended = False

    def new(self, spec: SandboxSpec) -> Sandbox:
        """A sandbox; after `end`, one that is closed. Raises SandboxError."""
        sandbox = self._pool.take(replace(spec, labels=(*spec.labels, *self._labels)))
        with self._lock:
            self._open.add(sandbox)
            late = self._ended
        if late:  # it was taken before the end
            sandbox.close()
        return sandbox

    def end(self) -> None:
        """Close every sandbox, also those that are in use."""
        with self._lock:
            self._ended = True
            left = list(self._open)
        for sandbox in left:
            sandbox.close()


class RunSandboxes:
    """Gives sandboxes from a pool of its own, and can end all that it gave. Safe to use from many threads."""

    def __init__(self, backend: Backend, run_id: int | None = None, *, size: int) -> None:
        """`size`: how many episodes are played at the same time."""
        # One of each kind at least: an episode takes one for the agent and then one for the verdict.
        self._pool = Pool(backend, size=max(size, 2))
        self._lent = Lent(self._pool, () if run_id is None else (("stackrank.run", str(run_id)),))
        self.new = self._lent.new

    def end(self) -> None:
        """Close every sandbox, also those that are in use."""
        self._pool.close()
        self._lent.end()

    def close(self) -> None:
        """Close the sandboxes that were started ahead."""
        self._pool.close()


def side_by_side(
    work: Callable[[Task, NewSandbox], Result], tasks: Sequence[Task], backend: Backend, workers: int
) -> Generator[Result, None, None]:
    """What `work` makes of each task, as it comes. Closing it ends the sandboxes: nobody waits for what was begun."""
    sandboxes = RunSandboxes(backend, size=workers)
    threads = ThreadPoolExecutor(max_workers=workers)
    try:
        for future in as_completed([threads.submit(work, task, sandboxes.new) for task in tasks]):
            yield future.result()
    finally:
        sandboxes.end()
        threads.shutdown(cancel_futures=True)
