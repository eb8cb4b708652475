# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""How well an article fits."""
from __future__ import annotations

from typing import List

from helpsearch.index import Article, Index

TITLE_BONUS = 2.0


def frequency(article: Article, term: str) -> float:
    """How much of the body is the term; grows ever more slowly with the count, below 1."""
    count = article.counts.get(term, 0)
    return count / (count + 1.0 + article.length / 100.0)


def term_score(article: Article, term: str) -> float:
    """The score for one term: how frequent it is, and a bonus if it is in the title."""
    return frequency(article, term) + TITLE_BONUS if term in article.title_terms else 0.0


def score(index: Index, article: Article, wanted: List[str]) -> float:
    """The score for all terms wanted, rare ones counting more, and full use of the query rewarded."""
    total = sum(index.rarity(term) * term_score(article, term) for term in wanted)
    matched = sum(1 for term in wanted if term in article.counts or term in article.title_terms)
    return total * matched / len(wanted) if wanted else 0.0
