# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A chat bot with commands."""
from __future__ import annotations

from .bot import Bot
from .commands import standard_commands

__all__ = ["Bot", "standard_commands"]
