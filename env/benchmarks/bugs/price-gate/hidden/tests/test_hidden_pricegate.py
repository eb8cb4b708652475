# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from pricegate import Gate


async def settle():
    for _ in range(60):
        await asyncio.sleep(0)


class Scene:
    """Readers and writers that stay until they are told to leave."""

    def __init__(self):
        self.gate = Gate()
        self.inside = []
        self.doors = {}
        self.tasks = {}

    async def come(self, *names):
        for name in names:
            self.doors[name] = asyncio.Event()
            self.tasks[name] = asyncio.ensure_future(self._stay(name))
            await settle()

    async def _stay(self, name):
        way = self.gate.reading() if name.startswith("r") else self.gate.writing()
        async with way:
            self.inside.append(name)
            try:
                await self.doors[name].wait()
            finally:
                self.inside.remove(name)

    async def leave(self, *names):
        for name in names:
            self.doors[name].set()
        await settle()

    async def end(self):
        for task in self.tasks.values():
            task.cancel()
        await settle()


def play(script):
    async def main():
        scene = Scene()
        try:
            await script(scene)
        finally:
            await scene.end()

    asyncio.run(main())


@pytest.mark.parametrize("count", [2, 3, 7])
def test_all_readers_come_in_together(count):
    async def script(scene):
        names = [f"r{number}" for number in range(count)]
        await scene.come("w", *names)
        assert scene.inside == ["w"]
        await scene.leave("w")
        assert scene.inside == names

    play(script)


def test_writers_go_first():
    async def script(scene):
        await scene.come("r1", "w1", "r2", "w2", "r3")
        assert scene.inside == ["r1"]
        await scene.leave("r1")
        assert scene.inside == ["w1"]
        await scene.leave("w1")
        assert scene.inside == ["w2"]
        await scene.leave("w2")
        assert sorted(scene.inside) == ["r2", "r3"]

    play(script)


def test_writer_behind_readers_gets_in():
    async def script(scene):
        await scene.come("w1", "r1", "r2", "w2")
        await scene.leave("w1")
        assert scene.inside == ["w2"]
        await scene.leave("w2")
        assert sorted(scene.inside) == ["r1", "r2"]

    play(script)


def test_reader_while_others_read():
    async def script(scene):
        await scene.come("r1", "r2")
        assert scene.inside == ["r1", "r2"]
        await scene.leave("r1")
        await scene.come("w")
        assert scene.inside == ["r2"]
        await scene.leave("r2")
        assert scene.inside == ["w"]

    play(script)


def test_error_of_a_writer():
    async def main():
        gate = Gate()
        with pytest.raises(KeyError):
            async with gate.writing():
                raise KeyError("x")
        async with gate.reading():
            return gate.readers

    assert asyncio.run(main()) == 1


def test_one_writer_at_a_time():
    async def script(scene):
        await scene.come("w1", "w2", "w3")
        for name in ("w1", "w2", "w3"):
            assert len(scene.inside) == 1
            await scene.leave(scene.inside[0])
        assert scene.inside == []

    play(script)
