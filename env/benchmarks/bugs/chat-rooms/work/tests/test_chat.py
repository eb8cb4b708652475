# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from chat import Banned, Moderator, Server


def test_talk():
    async def main():
        server = Server()
        server.open_room("lobby")
        ann = await server.enter("lobby", "ann")
        bob = await server.enter("lobby", "bob")
        await server.room("lobby").say("bob", "hello")
        assert ann.read() == ["* bob enters", "bob: hello"]
        assert bob.read() == []

    asyncio.run(main())


def test_moderated_room():
    async def main():
        server = Server()
        room = server.open_room("quiet", Moderator(("darn",)))
        ann = await server.enter("quiet", "ann")
        await server.enter("quiet", "bob")
        await room.say("bob", "darn it")
        assert ann.read() == ["* bob enters", "bob: **** it"]

    asyncio.run(main())


def test_banned():
    async def main():
        server = Server()
        moderator = Moderator()
        server.open_room("quiet", moderator)
        await moderator.ban("Eve")
        with pytest.raises(Banned):
            await server.enter("quiet", "eve")

    asyncio.run(main())
