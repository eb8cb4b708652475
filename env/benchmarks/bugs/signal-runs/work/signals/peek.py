# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Looking ahead in an iterator."""
from __future__ import annotations

from typing import Generic, Iterable, Iterator, Optional, TypeVar

T = TypeVar("T")


class Peekable(Generic[T]):
    """An iterator whose next item can be looked at before it is taken."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self._ahead: Optional[T] = None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._ahead is not None:
            item, self._ahead = self._ahead, None
            return item
        return next(self._items)

    def __bool__(self) -> bool:
        """Whether there are more items."""
        if self._ahead is None:
            try:
                self._ahead = next(self._items)
            except StopIteration:
                return False
        return True

    def peek(self) -> T:
        """The next item; IndexError if there is none."""
        if not self:
            raise IndexError("nothing ahead")
        return self._ahead  # type: ignore[return-value]
