"""The queue in which threads wait for one of their process's connections."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from typing import Any

from sqlalchemy.pool import QueuePool
from sqlalchemy.util.queue import Empty, Queue


class _FairQueue(Queue[Any]):
    """A queue that gives each returned connection to the thread that has waited longest.

    With SQLAlchemy's own queue, the thread that returns a connection may take it again before a waiting thread wakes:
    of 25 busy threads with 8 connections, some got none for as long as the others had work.
    """

    def _init(self, maxsize: int) -> None:
        super()._init(maxsize)
        self.turns: deque[Future[Any]] = deque()
        """The turns of waiting threads. There are none while the queue holds a connection."""

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        with self.mutex:
            if self.turns:
                self.turns.popleft().set_result(item)
            else:
                super().put(item, block, timeout)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        with self.mutex:
            if not block or self.queue:
                return super().get(False)
            turn: Future[Any] = Future()
            self.turns.append(turn)
        try:
            return turn.result(timeout)
        except BaseException as error:
            with self.mutex:
                if not turn.done():
                    self.turns.remove(turn)
                    if isinstance(error, TimeoutError):
                        raise Empty from None
                    raise
            if isinstance(error, TimeoutError):
                return turn.result()  # The connection came at the last moment.
            self.put(turn.result())
            raise


class FairPool(QueuePool):
    """A pool whose connections go to threads in the order in which they asked."""

    _queue_class = _FairQueue
