# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The archive, for programs."""
from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Dict, Iterator, List, Optional

from .letters import Letter
from .paging import letters
from .service import Service


class Archive:
    """Questions to the archive."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def all(self, author: Optional[str] = None) -> Iterator[Letter]:
        """All letters, or all by an author."""
        return letters(lambda mark: self._service.search(author, mark))

    def first(self, count: int, author: Optional[str] = None) -> List[Letter]:
        """The first letters, with no more requests than needed."""
        return list(islice(self.all(author), count))

    def years(self, author: Optional[str] = None) -> Dict[int, int]:
        """How many letters there are per year."""
        return dict(sorted(Counter(letter.year for letter in self.all(author)).items()))

    def has(self, author: str) -> bool:
        """Whether there is any letter by the author."""
        return any(True for _ in self.all(author))
