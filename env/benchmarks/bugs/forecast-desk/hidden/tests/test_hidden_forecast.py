# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from forecast import Desk, Forecast, Shared


async def settle():
    for _ in range(20):
        await asyncio.sleep(0)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 10))


class Work:
    def __init__(self):
        self.calls, self.cut, self.gate = [], [], asyncio.Event()

    async def __call__(self, key):
        self.calls.append(key)
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cut.append(key)
            raise
        return Forecast(key, 1.0)


@pytest.mark.parametrize("leaving", [[0], [1], [2], [0, 1], [1, 2], [0, 2]])
def test_any_of_the_askers_may_leave(leaving):
    async def main():
        work = Work()
        shared = Shared(work)
        tasks = [asyncio.ensure_future(shared.ask("x")) for _ in range(3)]
        await settle()
        for number in leaving:
            tasks[number].cancel()
        await settle()
        assert [task.cancelled() for task in tasks] == [n in leaving for n in range(3)]
        work.gate.set()
        await settle()
        for number, task in enumerate(tasks):
            if number not in leaving:
                assert (await task).city == "x"
        assert work.calls == ["x"] and work.cut == []
        assert "x" not in shared

    run(main())


def test_work_goes_on_when_all_leave():
    async def main():
        work = Work()
        desk = Desk(work)
        tasks = [asyncio.ensure_future(desk.forecast("Lima")) for _ in range(2)]
        await settle()
        for task in tasks:
            task.cancel()
        await settle()
        assert all(task.cancelled() for task in tasks)
        late = asyncio.ensure_future(desk.forecast("Lima"))
        await settle()
        work.gate.set()
        assert (await late).city == "lima"
        assert await desk.forecast("LIMA") == await late
        assert work.calls == ["lima"] and work.cut == []

    run(main())


def test_asker_with_a_time_limit():
    async def main():
        work = Work()
        desk = Desk(work)
        staying = asyncio.ensure_future(desk.forecast("Bonn"))
        await settle()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(desk.forecast("Bonn"), 0.01)
        work.gate.set()
        await settle()
        assert staying.done() and not staying.cancelled()

    run(main())


def test_kept_for_a_while_only():
    async def main():
        now, work = [0.0], Work()
        work.gate.set()
        desk = Desk(work, 10, lambda: now[0])
        for moment in (0.0, 9.9, 10.0, 19.9, 20.1):
            now[0] = moment
            await desk.forecast("Bern")
        assert len(work.calls) == 3

    run(main())


def test_failing_work_is_done_anew():
    async def main():
        calls = []

        async def work(key):
            calls.append(key)
            await asyncio.sleep(0)
            raise ValueError(key)

        shared = Shared(work)
        for _ in range(2):
            with pytest.raises(ValueError):
                await shared.ask("x")
            await settle()
        assert calls == ["x", "x"]

    run(main())
