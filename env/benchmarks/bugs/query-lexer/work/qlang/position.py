# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Places in a source."""
from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """Line and column, both counted from 1."""

    line: int
    column: int


class Cursor:
    """Goes through a source from its start and knows the position it is at."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.index = 0
        self._line = 1
        self._line_start = 0

    @property
    def position(self) -> Position:
        return Position(self._line, self.index - self._line_start + 1)

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.source)

    def skip(self, text: str) -> None:
        """Go on over a text, which stands at the cursor."""
        breaks = text.count("\n")
        if breaks:
            self._line += breaks
            self._line_start = self.index + text.find("\n") + 1
        self.index += len(text)
