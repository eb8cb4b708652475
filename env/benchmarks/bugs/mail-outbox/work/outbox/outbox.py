# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The outbox."""
from __future__ import annotations

import asyncio
from typing import Any, List, Tuple

from .mail import Mail
from .transport import Busy, MemoryTransport


class Outbox:
    """Mails that wait, and workers that deliver them.

    A mail to a busy receiver goes to the end of the queue, up to `tries` tries in all. A mail that is given up is
    in `failed`, with the error.
    """

    def __init__(self, transport: MemoryTransport, workers: int = 2, tries: int = 3) -> None:
        self._transport = transport
        self._tries = tries
        self._queue: "asyncio.Queue[Mail]" = asyncio.Queue()
        self._workers: "List[asyncio.Future[Any]]" = [asyncio.ensure_future(self._work()) for _ in range(workers)]
        self.failed: List[Tuple[Mail, Exception]] = []

    def put(self, to: str, text: str) -> None:
        """Send a mail in the background."""
        self._queue.put_nowait(Mail(to, text))

    def waiting(self) -> int:
        return self._queue.qsize()

    async def flush(self) -> int:
        """Wait until every mail is delivered or given up; return how many have been given up."""
        await self._queue.join()
        return len(self.failed)

    async def close(self) -> None:
        """Flush, then stop the workers."""
        await self.flush()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def _work(self) -> None:
        while True:
            mail = (await self._queue.get()).tried_again()
            try:
                await self._transport.deliver(mail)
                self._queue.task_done()
            except Busy as error:
                if mail.tries < self._tries:
                    self._queue.put_nowait(mail)
                    self._queue.task_done()
                else:
                    self.failed.append((mail, error))
            except Exception as error:
                self.failed.append((mail, error))
