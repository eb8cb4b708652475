# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A tape of fixed length."""
from __future__ import annotations

from typing import Generic, Iterator, List, Optional, TypeVar

T = TypeVar("T")


class Tape(Generic[T]):
    """The latest `length` items; older ones are written over."""

    def __init__(self, length: int) -> None:
        if length < 1:
            raise ValueError("length is at least 1")
        self._slots: List[Optional[T]] = [None] * length
        self._next = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, item: T) -> None:
        """Write an item at the end."""
        self._slots[self._next] = item
        self._next = (self._next + 1) % len(self._slots)
        self._count = min(self._count + 1, len(self._slots))

    def __iter__(self) -> Iterator[T]:
        """The items, oldest first."""
        if self._count == len(self._slots):
            yield from self._slots[self._next:]  # type: ignore[misc]
        yield from self._slots[:self._next]  # type: ignore[misc]

    def last(self, count: int) -> Iterator[T]:
        """The latest `count` items, oldest first; all of them if there are fewer."""
        for position in range(max(self._next - count, 0), self._next):
            yield self._slots[position]  # type: ignore[misc]
