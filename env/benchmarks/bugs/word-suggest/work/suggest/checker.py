# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The spell checker."""
from __future__ import annotations

import re
from typing import Iterable, List, Tuple

from .distance import distance
from .words import Words

_WORD = re.compile(r"[^\W\d_]+")


class Checker:
    """Finds misspelt words and suggests others.

    Words of up to four letters may be one step away from a suggestion, longer ones two.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = Words(words)

    def limit(self, word: str) -> int:
        return 1 if len(word) <= 4 else 2

    def suggest(self, word: str, most: int = 3) -> List[str]:
        """The best suggestions: the nearest first, then those seen more often, then by alphabet."""
        word = word.lower()
        limit = self.limit(word)
        found: List[Tuple[int, int, str]] = []
        for candidate, seen in self._words.near_length(len(word), limit):
            steps = distance(word, candidate, limit)
            if steps <= limit:
                found.append((steps, -seen, candidate))
        return [candidate for _, _, candidate in sorted(found)[:most]]

    def check(self, text: str) -> List[Tuple[str, List[str]]]:
        """The unknown words of a text, each with suggestions."""
        return [(w, self.suggest(w)) for w in _WORD.findall(text) if w not in self._words]
