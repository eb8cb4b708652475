# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Several open tracks as one."""
from __future__ import annotations

from contextlib import ExitStack, closing
from typing import Iterable, Iterator, List

from .storage import Handle, MemoryStorage


class Bundle:
    """Opens tracks for a `with` block.

    Either all tracks are open in the block, or none stays open and the error comes out. After the block all
    are closed.
    """

    def __init__(self, storage: MemoryStorage, names: Iterable[str]) -> None:
        self._storage = storage
        self._names = list(names)
        self._stack = ExitStack()
        self._handles: List[Handle] = []

    def __enter__(self) -> "Bundle":
        for name in self._names:
            self._handles.append(self._stack.enter_context(closing(self._storage.open(name))))
        return self

    def __exit__(self, *details: object) -> None:
        self._stack.close()
        self._handles = []

    def blocks(self, size: int) -> Iterator[List[List[int]]]:
        """Samples of all tracks, `size` at a time, until all are at their end."""
        while True:
            block = [handle.read(size) for handle in self._handles]
            if not any(block):
                return
            yield block
