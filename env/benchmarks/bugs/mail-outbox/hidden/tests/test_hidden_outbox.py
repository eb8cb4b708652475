# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from outbox import Outbox
from outbox.transport import Busy, MemoryTransport, Refused


async def settle():
    for _ in range(300):
        await asyncio.sleep(0)


def run(scene, transport, **options):
    async def main():
        outbox = Outbox(transport, **options)
        result = await scene(outbox)
        for worker in outbox._workers:
            worker.cancel()
        return result

    return asyncio.run(main())


async def flushed(outbox):
    task = asyncio.ensure_future(outbox.flush())
    await settle()
    if not task.done():
        task.cancel()
        return "hangs"
    return task.result()


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("tries", [1, 2, 4])
def test_always_busy(workers, tries):
    transport = MemoryTransport()
    transport.busy["ann"] = 99

    async def scene(outbox):
        outbox.put("ann", "x")
        outbox.put("bob", "y")
        return await flushed(outbox), outbox.failed

    count, failed = run(scene, transport, workers=workers, tries=tries)
    assert count == 1
    assert [(mail.to, mail.tries, type(error)) for mail, error in failed] == [("ann", tries, Busy)]
    assert transport.busy["ann"] == 99 - tries


def test_refused_and_odd_errors():
    class Odd(MemoryTransport):
        async def deliver(self, mail):
            if mail.to == "odd":
                raise ValueError("odd")
            await super().deliver(mail)

    transport = Odd()
    transport.refusing += ["eve", "eva"]

    async def scene(outbox):
        for to in ("eve", "odd", "ann", "eva"):
            outbox.put(to, "t")
        first = await flushed(outbox)
        outbox.put("bob", "later")
        return first, await flushed(outbox), {type(error) for _, error in outbox.failed}

    assert run(scene, transport) == (3, 3, {Refused, ValueError})
    assert [mail.to for mail in transport.delivered] == ["ann", "bob"]


def test_flush_waits_for_the_mail_that_is_tried_again():
    transport = MemoryTransport()
    transport.busy["ann"] = 1

    async def scene(outbox):
        outbox.put("ann", "x")
        await outbox.flush()
        return len(transport.delivered)

    assert run(scene, transport, workers=1) == 1


def test_flush_waits_for_mails_under_way():
    gate = []

    class Slow(MemoryTransport):
        async def deliver(self, mail):
            await gate[0].wait()
            await super().deliver(mail)

    async def scene(outbox):
        gate.append(asyncio.Event())
        outbox.put("ann", "x")
        flush = asyncio.ensure_future(outbox.flush())
        await settle()
        assert outbox.waiting() == 0 and not flush.done()
        gate[0].set()
        await settle()
        return flush.done()

    assert run(scene, Slow())


def test_close_stops_the_workers():
    transport = MemoryTransport()
    transport.refusing.append("eve")

    async def scene(outbox):
        outbox.put("eve", "x")
        task = asyncio.ensure_future(outbox.close())
        await settle()
        done = task.done()
        task.cancel()
        return done, all(worker.done() for worker in outbox._workers)

    assert run(scene, transport) == (True, True)
