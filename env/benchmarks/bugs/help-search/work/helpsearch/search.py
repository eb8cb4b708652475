# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Answer queries."""
from __future__ import annotations

from typing import List, Set

from helpsearch.index import Index
from helpsearch.score import score
from helpsearch.text import terms


def search(index: Index, query: str, limit: int = 10) -> List[str]:
    """Titles of the articles with any of the words, best first, equal ones in the order they were added.

    Articles without any score are left out.
    """
    wanted = list(dict.fromkeys(terms(query)))
    found: Set[int] = set()
    for term in wanted:
        found |= index.having(term)
    scored = [(score(index, index.articles[number], wanted), number) for number in sorted(found)]
    scored = [(points, number) for points, number in scored if points > 0.0]
    scored.sort(key=lambda pair: -pair[0])
    return [index.articles[number].title for _, number in scored[:limit]]
