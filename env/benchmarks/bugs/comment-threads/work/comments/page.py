# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Pages."""
from __future__ import annotations

from typing import Dict, Iterator, List, Tuple

from .comment import Comment


class Page:
    """The comments below an article."""

    def __init__(self, deepest: int = 8) -> None:
        self._deepest = deepest
        self._comments: List[Comment] = []

    def add(self, author: str, text: str, likes: int = 0) -> Comment:
        """Add a comment that is no answer."""
        comment = Comment(author, text, likes)
        self._comments.append(comment)
        return comment

    def _all(self) -> Iterator[Tuple[int, Comment]]:
        for comment in self._comments:
            yield from comment.thread()

    def lines(self) -> List[str]:
        """The page as lines, indented by depth, but no further than the deepest indent."""
        rows = []
        for depth, comment in self._all():
            text = "(hidden)" if comment.hidden else f"{comment.author}: {comment.text}"
            rows.append("  " * min(depth, self._deepest) + text)
        return rows

    def count(self) -> int:
        """The number of comments that are not hidden."""
        return sum(1 for _, comment in self._all() if not comment.hidden)

    def authors(self) -> Dict[str, int]:
        """How many comments of each author can be read, by name."""
        found: Dict[str, int] = {}
        for _, comment in self._all():
            if not comment.hidden:
                found[comment.author] = found.get(comment.author, 0) + 1
        return dict(sorted(found.items()))
