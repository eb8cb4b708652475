# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Mails."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass(frozen=True)
class Mail:
    """A mail as the filters see it."""

    sender: str
    subject: str
    body: str = ""

    def words(self) -> List[str]:
        """The words of subject and body in small letters, without punctuation."""
        text = (self.subject + " " + self.body).lower()
        return "".join(c if c.isalnum() else " " for c in text).split()
