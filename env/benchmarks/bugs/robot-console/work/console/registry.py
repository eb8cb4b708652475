# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Commands are functions marked with @command(...)."""
from __future__ import annotations

from typing import Callable, Dict, List, NamedTuple, Optional

Action = Callable[..., str]


class Entry(NamedTuple):
    """A command, how many arguments it takes, and its help."""

    action: Action
    arguments: int
    help: str


class Registry:
    """All commands by name."""

    def __init__(self) -> None:
        self._entries: Dict[str, Entry] = {}

    def command(self, name: Optional[str] = None, arguments: int = 0) -> Callable[[Action], Action]:
        """Decorator that makes a function a command, called like the function if `name` is not given.

        The first line of the docstring is its help.
        """

        def mark(action: Action) -> Action:
            text = (action.__doc__ or "").strip().splitlines()
            self._entries[name or action.__name__] = Entry(action, arguments, text[0] if text else "")
            return action

        return mark

    def find(self, name: str) -> Optional[Entry]:
        """The command of that name, in any case."""
        return self._entries.get(name.lower())

    def names(self) -> List[str]:
        return sorted(self._entries)


registry = Registry()
command = registry.command
