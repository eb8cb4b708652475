# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The index of all articles."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Dict, FrozenSet, Iterator, List, Set

from helpsearch.text import terms


@dataclass(frozen=True)
class Article:
    """An article with the number of times each term is in its body."""

    title: str
    counts: Dict[str, int]
    title_terms: FrozenSet[str]
    length: int


class Index:
    """Articles and, for each term, the articles that have it."""

    def __init__(self) -> None:
        self.articles: List[Article] = []
        self._having: Dict[str, Set[int]] = {}

    def add(self, title: str, body: str) -> int:
        """Add an article; its number."""
        number = len(self.articles)
        words = terms(body)
        article = Article(title, dict(Counter(words)), frozenset(terms(title)), len(words))
        self.articles.append(article)
        for term in set(words) | article.title_terms:
            self._having.setdefault(term, set()).add(number)
        return number

    def having(self, term: str) -> Set[int]:
        """Numbers of the articles that have the term in title or body."""
        return set(self._having.get(term, ()))

    def rarity(self, term: str) -> float:
        """From near 0 for a term of all articles up to 1 for a term of one article only."""
        count = len(self._having.get(term, ()))
        return 1.0 - (count - 1) / len(self.articles) if count else 0.0
