# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mails."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mail:
    """A mail and how often its delivery was tried."""

    to: str
    text: str
    tries: int = 0

    def tried_again(self) -> "Mail":
        return Mail(self.to, self.text, self.tries + 1)
