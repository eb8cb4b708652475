# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rooms and their members."""
from __future__ import annotations

import asyncio

from .moderation import Moderator


class Banned(Exception):
    """The moderator does not let this name enter."""


class Member:
    """Someone in a room, with the messages not yet read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._inbox: list[str] = []

    async def deliver(self, line: str) -> None:
        await asyncio.sleep(0)
        self._inbox.append(line)

    def read(self) -> list[str]:
        """Take the messages that arrived."""
        lines, self._inbox = self._inbox, []
        return lines


class Room:
    """A room: whoever is in it gets what is said, except from themselves."""

    def __init__(self, title: str, moderator: Moderator | None = None) -> None:
        self.title = title
        self._moderator = moderator
        self._members: dict[str, Member] = {}

    def names(self) -> list[str]:
        return sorted(self._members)

    async def enter(self, name: str) -> Member:
        """Let someone in; raises Banned, or ValueError if the name is taken."""
        if self._moderator is not None and self._moderator.is_banned(name):
            raise Banned(f"{name} is banned from {self.title}")
        if name in self._members:
            raise ValueError(f"{name} is taken")
        member = self._members[name] = Member(name)
        await self._tell_others(name, f"* {name} enters")
        return member

    async def leave(self, name: str) -> None:
        if self._members.pop(name, None) is not None:
            await self._tell_others(name, f"* {name} leaves")

    async def say(self, name: str, text: str) -> None:
        """Send a line to all the others."""
        if name not in self._members:
            raise ValueError(f"{name} is not in {self.title}")
        if self._moderator is not None:
            text = await self._moderator.clean(text)
        await self._tell_others(name, f"{name}: {text}")

    async def expel(self, name: str) -> None:
        """Ban someone and show them the door."""
        if self._moderator is None:
            raise ValueError(f"{self.title} has no moderator")
        await self._moderator.ban(name)
        await self.leave(name)

    async def _tell_others(self, name: str, line: str) -> None:
        await asyncio.gather(*(m.deliver(line) for m in self._members.values() if m.name != name))
