# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A mailbox between threads."""
from __future__ import annotations

import threading
from collections import deque
from typing import Generic, Iterable, TypeVar

T = TypeVar("T")


class MailboxClosed(Exception):
    """Nothing more can be put into, or will come out of, the mailbox."""


class Mailbox(Generic[T]):
    """Items are taken in the order they were put.

    `take` waits until there is an item. After `close` the items left can still be taken, then `take`
    raises MailboxClosed.
    """

    def __init__(self) -> None:
        self._items: deque[T] = deque()
        self._closed = False
        self._changed = threading.Condition()
        self._waiting = 0
        self.wakeups = 0

    def __len__(self) -> int:
        with self._changed:
            return len(self._items)

    @property
    def waiting(self) -> int:
        """How many threads wait for an item."""
        with self._changed:
            return self._waiting

    def put(self, item: T) -> None:
        self.put_all([item])

    def put_all(self, items: Iterable[T]) -> None:
        """Put several items at once."""
        with self._changed:
            if self._closed:
                raise MailboxClosed("the mailbox is closed")
            self._items.extend(items)
            self._changed.notify_all()

    def take(self) -> T:
        with self._changed:
            if not self._items and not self._closed:
                self._wait()
            if self._items:
                return self._items.popleft()
            raise MailboxClosed("the mailbox is closed and empty")

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _wait(self) -> None:
        self._waiting += 1
        self._changed.wait()
        self._waiting -= 1
        self.wakeups += 1
