# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The shop."""
from __future__ import annotations

from itertools import islice
from typing import Iterable, Iterator, List, Optional, Sequence

from .articles import Article
from .filters import make_test, narrow
from .query import parse


class Shop:
    """Articles that can be searched."""

    def __init__(self, articles: Iterable[Article]) -> None:
        self._articles = list(articles)

    def find(self, text: str, limit: Optional[int] = None) -> List[str]:
        """The names of the articles that have all the words and meet all the conditions, at most `limit`."""
        query = parse(text)
        found = narrow(_with_words(self._articles, query.words), [make_test(one) for one in query.conditions])
        return [article.name for article in islice(found, limit)]

    def count(self, text: str) -> int:
        """How many articles are found."""
        return len(self.find(text))


def _with_words(articles: Iterable[Article], words: Sequence[str]) -> Iterator[Article]:
    for article in articles:
        name = article.name.lower()
        if all(word in name for word in words):
            yield article
