"""What an environment shares with its branches: a pool of sandboxes, and an episode begun ahead for the next branch."""

from __future__ import annotations

import logging
import threading

from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import SandboxClosed
from stackrank.env.sandbox.pool import Pool
from stackrank.env.task import Task
from stackrank.errors import StackrankError
from stackrank.flows.runs.playing.sandboxes import SandboxLease

log = logging.getLogger(__name__)


class HeadStart:
    """An episode that is reset in the background: a branch needs this first, whichever step it leads to."""

    def __init__(self, pool: Pool, env: DebugEnv) -> None:
        """Begin an episode like that of `env`, in a sandbox of its own."""
        self.lease = SandboxLease(pool)
        self._env = env.twin(self.lease.new)
        self._thread = threading.Thread(target=self._begin, name="stackrank-head-start", daemon=True)
        self._thread.start()

    @property
    def task(self) -> Task:
        """The task of the episode."""
        return self._env.task

    def _begin(self) -> None:
        try:
            self._env.reset()
        except SandboxClosed:
            pass  # nobody needs it any more
        except StackrankError as error:
            # The branch that needs it resets it again, and sees why that fails.
            log.warning("no episode could be begun ahead: %s", error)

    def take(self) -> DebugEnv:
        """Wait for the reset, and return the environment, which from now on belongs to the caller."""
        self._thread.join()
        return self._env

    def end(self) -> None:
        """End the episode, and wait until nothing of it is left."""
        self.lease.end()
        self._thread.join()


class PoolShare:
    """Closes a pool when the last of those who hold it has left. Thread-safe."""

    def __init__(self, pool: Pool, *, closes: bool) -> None:
        """`closes`: whether the pool is closed at all; else somebody else does it."""
        self.pool = pool
        self._closes = closes
        self._holders = 0
        self._head_start: HeadStart | None = None
        self._lock = threading.Lock()

    def hold(self) -> PoolShare:
        """Count one more holder, and return this."""
        with self._lock:
            self._holders += 1
        return self

    def begin_next(self, env: DebugEnv) -> None:
        """Begin an episode like that of `env`, because what was branched once is likely to be branched again."""
        with self._lock:
            if self._holders and self._head_start is None:
                self._head_start = HeadStart(self.pool, env)

    def take_begun(self, task: Task) -> HeadStart | None:
        """Return the episode that was begun ahead, which then belongs to the caller; None if there is none of the task.

        One of another task is ended.
        """
        with self._lock:
            head_start, self._head_start = self._head_start, None
        if head_start is not None and head_start.task is not task:
            head_start.end()
            return None
        return head_start

    def leave(self) -> None:
        """Count one holder less; after the last, end what was begun ahead, and close the pool."""
        with self._lock:
            self._holders -= 1
            is_last = self._holders == 0
            head_start, self._head_start = (self._head_start, None) if is_last else (None, self._head_start)
        if head_start is not None:
            head_start.end()
        if is_last and self._closes:
            self.pool.close()
