# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Steps done and undone."""
from __future__ import annotations

from typing import List, Optional

from .commands import Command


class History:
    """Remembers up to `limit` steps, and at which of them the drawing was saved."""

    def __init__(self, limit: int = 100) -> None:
        self.limit = limit
        self._done: List[Command] = []
        self._undone: List[Command] = []
        self._saved: Optional[int] = 0

    @property
    def changed(self) -> bool:
        """Whether the drawing differs from the one saved last, as far as the steps tell."""
        return self._saved != len(self._done)

    def mark_saved(self) -> None:
        """The drawing was saved as it is now."""
        self._saved = len(self._done)

    def add(self, command: Command) -> None:
        """Remember a step just done. What was undone before can no longer be redone."""
        self._undone.clear()
        if self._done and self.changed:
            joined = self._done[-1].joined(command)
            if joined is not None:
                self._done[-1] = joined
                return
        self._done.append(command)
        while len(self._done) > self.limit:
            del self._done[0]
            if self._saved is not None:
                self._saved = self._saved - 1 if self._saved else None

    def step_back(self) -> Optional[Command]:
        """The command to undo, which from now on can be redone; None if there is none."""
        if not self._done:
            return None
        self._undone.append(self._done.pop())
        return self._undone[-1]

    def step_forward(self) -> Optional[Command]:
        """The command to redo; None if there is none."""
        if not self._undone:
            return None
        self._done.append(self._undone.pop())
        return self._done[-1]
