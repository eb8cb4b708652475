# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Comments."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, List, Tuple


@dataclass
class Comment:
    """A comment and the answers to it."""

    author: str
    text: str
    likes: int = 0
    hidden: bool = False
    answers: List["Comment"] = field(default_factory=list)

    def answer(self, author: str, text: str, likes: int = 0, hidden: bool = False) -> "Comment":
        """Add an answer and return it."""
        comment = Comment(author, text, likes, hidden)
        self.answers.append(comment)
        return comment

    def thread(self, depth: int = 0) -> Iterator[Tuple[int, "Comment"]]:
        """The comment and all that is below it, each with its depth.

        Answers come right after what they answer, those with more likes first. What is below a hidden
        comment is left out; the hidden comment itself is not.
        """
        yield depth, self
        if not self.hidden:
            for answer in sorted(self.answers, key=lambda comment: -comment.likes):
                yield depth + 1, answer
