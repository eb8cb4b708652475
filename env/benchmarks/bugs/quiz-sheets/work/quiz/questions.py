# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Questions and their points."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple


@dataclass(frozen=True)
class Question:
    """A question, the right answer and what it is worth."""

    key: str
    right: str
    points: int = 1

    def score(self, answer: str) -> int:
        """Points for an answer; case and blanks do not matter, `-` is no answer."""
        return self.points if answer.strip().lower() == self.right.lower() else 0


@dataclass(frozen=True)
class Quiz:
    title: str
    questions: Tuple[Question, ...]

    @property
    def best(self) -> int:
        """The points of a perfect sheet."""
        return sum(question.points for question in self.questions)
