# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A gate for readers and writers, for asyncio."""
from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import AsyncIterator


class Gate:
    """Any number of readers, or one writer.

    A writer who waits goes before readers who come later. As soon as a writer leaves and no other waits, all
    readers who wait SHALL come in together.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._readers = 0
        self._writing = False
        self._writers_waiting = 0

    @property
    def readers(self) -> int:
        """How many read at the moment."""
        return self._readers

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Read for the block."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._writing and not self._writers_waiting)
            self._readers += 1
        try:
            yield
        finally:
            async with self._changed:
                self._readers -= 1
                if not self._readers:
                    self._changed.notify_all()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Write for the block."""
        async with self._changed:
            self._writers_waiting += 1
            try:
                await self._changed.wait_for(lambda: not self._writing and not self._readers)
            finally:
                self._writers_waiting -= 1
            self._writing = True
        try:
            yield
        finally:
            async with self._changed:
                self._writing = False
                self._changed.notify()
