# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A lock for readers and writers."""
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import AsyncIterator


class ReadWriteLock:
    """Any number of readers at the same time, or one writer and nobody else.

    Writers come first: while a writer waits, new readers wait as well. When the last writer is done, all
    the readers go on together.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self.readers = 0
        self.writing = False
        self.writers_waiting = 0

    @asynccontextmanager
    async def read(self) -> AsyncIterator[None]:
        """Hold the lock as a reader."""
        async with self._changed:
            while self.writing or self.writers_waiting:
                await self._changed.wait()
            self.readers += 1
        try:
            yield
        finally:
            async with self._changed:
                self.readers -= 1
                if not self.readers:
                    self._changed.notify_all()

    @asynccontextmanager
    async def write(self) -> AsyncIterator[None]:
        """Hold the lock as the writer."""
        async with self._changed:
            self.writers_waiting += 1
            try:
                while self.writing or self.readers:
                    await self._changed.wait()
                self.writing = True
            finally:
                self.writers_waiting -= 1
        try:
            yield
        finally:
            async with self._changed:
                self.writing = False
                self._changed.notify()
