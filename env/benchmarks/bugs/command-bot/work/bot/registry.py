# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The commands by name."""
from __future__ import annotations

from typing import Callable, Dict, List, Sequence

from .errors import UnknownCommand

Handler = Callable[[Sequence[str]], str]


class Registry:
    """Commands and their short names."""

    def __init__(self) -> None:
        self._handlers: Dict[str, Handler] = {}
        self._short: Dict[str, str] = {}

    def add(self, name: str, handler: Handler, *short: str) -> None:
        self._handlers[name] = handler
        for one in short:
            self._short[one] = name

    def names(self) -> List[str]:
        return sorted(self._handlers)

    def find(self, name: str) -> Handler:
        """The handler of a command, given by name or short name."""
        return self._handlers[self._short.get(name, name)]

    def call(self, name: str, arguments: Sequence[str]) -> str:
        """What the command answers. Errors of the command itself SHALL come out as they are."""
        try:
            return self.find(name)(arguments)
        except LookupError:
            raise UnknownCommand(name) from None
