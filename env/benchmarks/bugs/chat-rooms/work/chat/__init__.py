# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A chat server core: rooms, members and moderation."""
from __future__ import annotations

from .moderation import Moderator
from .room import Banned, Member, Room
from .server import Server, UnknownRoom

__all__ = ["Banned", "Member", "Moderator", "Room", "Server", "UnknownRoom"]
