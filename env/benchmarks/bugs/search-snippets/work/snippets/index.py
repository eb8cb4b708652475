# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The index."""
from __future__ import annotations

import re
from typing import Dict, List, Set, Tuple

from .folding import fold
from .marks import snippet

_WORD = re.compile(r"\w+")


class Index:
    """Documents by name, found by the words in them."""

    def __init__(self) -> None:
        self._documents: Dict[str, str] = {}
        self._names: Dict[str, Set[str]] = {}

    def add(self, name: str, text: str) -> None:
        self._documents[name] = text
        for word in _WORD.findall(text):
            self._names.setdefault(fold(word), set()).add(name)

    def search(self, query: str, around: int = 20) -> List[Tuple[str, str]]:
        """Name and snippet of the documents with all the words of the query, by name."""
        words = query.split()
        if not words:
            return []
        names = set.intersection(*(self._names.get(fold(word), set()) for word in words))
        return [(name, snippet(self._documents[name], words, around)) for name in sorted(names)]
