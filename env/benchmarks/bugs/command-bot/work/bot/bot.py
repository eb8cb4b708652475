# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The bot."""
from __future__ import annotations

from typing import List

from .errors import CommandError
from .registry import Registry


class Bot:
    """Answers messages that begin with `!`."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.faults: List[Exception] = []

    def answer(self, message: str) -> str:
        """The answer; empty for messages that are no commands.

        What a CommandError says is told to the user. Any other error is a fault of the program: it is kept in
        `faults` and the user is told that something went wrong.
        """
        if not message.startswith("!"):
            return ""
        words = message[1:].split()
        if not words:
            return ""
        try:
            return self._registry.call(words[0].lower(), words[1:])
        except CommandError as error:
            return str(error)
        except Exception as error:
            self.faults.append(error)
            return "something went wrong"
