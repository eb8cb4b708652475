# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

from outbox import Outbox
from outbox.transport import MemoryTransport


def deliver(transport, mails, **options):
    """Send the mails and flush; the result is None if flush does not end."""
    async def main():
        outbox = Outbox(transport, **options)
        for to, text in mails:
            outbox.put(to, text)
        flush = asyncio.ensure_future(outbox.flush())
        for _ in range(200):
            await asyncio.sleep(0)
        if not flush.done():
            flush.cancel()
            return None
        await outbox.close()
        return flush.result(), [mail.to for mail, _ in outbox.failed]

    return asyncio.run(main())


def test_delivered():
    transport = MemoryTransport()
    assert deliver(transport, [("ann", "hi"), ("bob", "ho")]) == (0, [])
    assert [mail.to for mail in transport.delivered] == ["ann", "bob"]


def test_busy_receiver():
    transport = MemoryTransport()
    transport.busy["ann"] = 2
    assert deliver(transport, [("ann", "hi"), ("bob", "ho")], workers=1) == (0, [])
    assert [(mail.to, mail.tries) for mail in transport.delivered] == [("bob", 1), ("ann", 3)]


def test_refused_mail():
    transport = MemoryTransport()
    transport.refusing.append("eve")
    assert deliver(transport, [("ann", "hi"), ("eve", "hey"), ("bob", "ho")]) == (1, ["eve"])
