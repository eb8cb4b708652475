# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Entries."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Entry:
    """A term, its address and other ways to write it."""

    term: str
    address: str
    aliases: Tuple[str, ...] = ()

    @property
    def spellings(self) -> Tuple[str, ...]:
        return (self.term,) + self.aliases


def fold(text: str) -> str:
    """What spellings are compared by: case and the kind of white space do not matter."""
    return " ".join(text.casefold().split())
