# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The rooms of a server."""
from __future__ import annotations

from .moderation import Moderator
from .room import Member, Room


class UnknownRoom(KeyError):
    """There is no room of this title."""


class Server:
    """Rooms by title."""

    def __init__(self) -> None:
        self._rooms: dict[str, Room] = {}

    def open_room(self, title: str, moderator: Moderator | None = None) -> Room:
        return self._rooms.setdefault(title, Room(title, moderator))

    def room(self, title: str) -> Room:
        try:
            return self._rooms[title]
        except KeyError:
            raise UnknownRoom(title) from None

    async def enter(self, title: str, name: str) -> Member:
        return await self.room(title).enter(name)

    async def move(self, name: str, origin: str, goal: str) -> Member:
        """Move someone to another room; if they may not enter it they stay where they are."""
        member = await self.room(goal).enter(name)
        await self.room(origin).leave(name)
        return member
