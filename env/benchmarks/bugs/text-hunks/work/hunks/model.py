# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Hunks."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List, Tuple

Line = Tuple[str, str]
_OTHER = {" ": " ", "+": "-", "-": "+"}


@dataclass(frozen=True)
class Span:
    """`count` lines from line `start`, counted from 1; without lines, `start` is the line before the gap."""

    start: int
    count: int

    @property
    def index(self) -> int:
        """The index of the first line in a list of all the lines."""
        return self.start - 1 if self.count else self.start


@dataclass(frozen=True)
class Hunk:
    """One change: the lines it is about, each with its sign."""

    old: Span
    new: Span
    lines: List[Line]

    def side(self, sign: str) -> List[str]:
        """The lines before the change (sign "-") or after it (sign "+")."""
        return [text for mark, text in self.lines if mark in (" ", sign)]

    def reversed(self) -> "Hunk":
        """The hunk that takes this one back."""
        return Hunk(self.new, self.old, [(_OTHER[mark], text) for mark, text in self.lines])
