# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Errors of the bot."""
from __future__ import annotations


class CommandError(LookupError):
    """Something the user should be told."""


class UnknownCommand(CommandError):
    """There is no such command."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"unknown command: {self.name}"
