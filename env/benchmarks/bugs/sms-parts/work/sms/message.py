# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Messages and their parts."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List

from .alphabet import Alphabet


@dataclass(frozen=True)
class Part:
    """One part of a message."""

    number: int
    text: str

    def payload(self, alphabet: Alphabet) -> int:
        """The places the part takes."""
        return sum(map(alphabet.cost, self.text))


@dataclass(frozen=True)
class Message:
    alphabet: Alphabet
    parts: List[Part]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    def price(self, cents: int) -> int:
        """What the message costs at a price per part."""
        return cents * len(self.parts)
