# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import asyncio

import pytest

from chat import Banned, Moderator, Room, Server, UnknownRoom


def test_expelled_and_pardoned():
    async def main():
        moderator = Moderator()
        room = Room("quiet", moderator)
        for name in ("ann", "bob", "eve"):
            await room.enter(name)
        await room.expel("eve")
        assert room.names() == ["ann", "bob"]
        with pytest.raises(Banned):
            await room.enter("EVE")
        await moderator.pardon("Eve")
        await room.enter("eve")
        assert room.names() == ["ann", "bob", "eve"]

    asyncio.run(main())


def test_many_enter_at_once():
    async def main():
        moderator = Moderator()
        await moderator.ban("n3")
        room = Room("quiet", moderator)
        outcomes = await asyncio.gather(*(room.enter(f"n{i}") for i in range(6)), return_exceptions=True)
        assert [isinstance(o, Banned) for o in outcomes] == [i == 3 for i in range(6)]
        assert room.names() == ["n0", "n1", "n2", "n4", "n5"]

    asyncio.run(main())


def test_move_into_a_moderated_room():
    async def main():
        server, moderator = Server(), Moderator()
        server.open_room("lobby")
        server.open_room("quiet", moderator)
        await moderator.ban("eve")
        await server.enter("lobby", "ann")
        await server.enter("lobby", "eve")
        await server.move("ann", "lobby", "quiet")
        with pytest.raises(Banned):
            await server.move("eve", "lobby", "quiet")
        assert server.room("lobby").names() == ["eve"]
        assert server.room("quiet").names() == ["ann"]

    asyncio.run(main())


def test_name_taken_and_unknown_room():
    async def main():
        server = Server()
        server.open_room("lobby", Moderator())
        await server.enter("lobby", "ann")
        with pytest.raises(ValueError, match="taken"):
            await server.enter("lobby", "ann")
        with pytest.raises(UnknownRoom):
            await server.enter("attic", "ann")

    asyncio.run(main())
