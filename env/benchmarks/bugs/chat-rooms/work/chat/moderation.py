# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Who may not enter and what may not be said."""
from __future__ import annotations

import asyncio


class Moderator:
    """Keeps the list of banned names and unwanted words behind a (slow) service."""

    def __init__(self, unwanted: tuple[str, ...] = ()) -> None:
        self._banned: set[str] = set()
        self._unwanted = unwanted

    async def ban(self, name: str) -> None:
        await asyncio.sleep(0)
        self._banned.add(name.casefold())

    async def pardon(self, name: str) -> None:
        await asyncio.sleep(0)
        self._banned.discard(name.casefold())

    async def is_banned(self, name: str) -> bool:
        await asyncio.sleep(0)
        return name.casefold() in self._banned

    async def clean(self, text: str) -> str:
        """The text with unwanted words starred out."""
        await asyncio.sleep(0)
        for word in self._unwanted:
            text = text.replace(word, "*" * len(word))
        return text
