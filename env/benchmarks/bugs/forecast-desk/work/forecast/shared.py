# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Work shared by those who ask for the same thing at the same time."""
from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, Dict


class Shared:
    """Runs `work(key)` once for all who ask for the key while it runs.

    All of them get the outcome, be it a result or an exception. The next to ask after the end starts the
    work anew. Work that was started is brought to its end, whatever becomes of those who asked for it.
    """

    def __init__(self, work: Callable[[str], Awaitable[Any]]) -> None:
        self._work = work
        self._running: Dict[str, "asyncio.Future[Any]"] = {}

    def __contains__(self, key: str) -> bool:
        """Whether the work for the key is under way."""
        return key in self._running

    async def ask(self, key: str) -> Any:
        """The outcome of the work for the key."""
        task = self._running.get(key)
        if task is None:
            task = self._start(key)
        return await task

    def _start(self, key: str) -> "asyncio.Future[Any]":
        task = asyncio.ensure_future(self._work(key))
        self._running[key] = task
        task.add_done_callback(lambda done: self._running.pop(key, None))
        return task
