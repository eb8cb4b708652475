# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Conditions as tests of articles."""
from __future__ import annotations

from typing import Callable, Iterable, Iterator

from .articles import Article
from .query import Condition

Test = Callable[[Article], bool]


def make_test(condition: Condition) -> Test:
    """The test for one condition. Limits hold only for numbers; `:` takes one of several values, `a|b`."""
    if condition.sign == ":":
        wanted = set(condition.value.split("|"))
        return lambda article: str(article.property(condition.key)).lower() in wanted
    limit = float(condition.value)
    if condition.sign == "<":
        return lambda article: _number(article, condition.key, limit) < limit
    return lambda article: _number(article, condition.key, limit) > limit


def _number(article: Article, key: str, otherwise: float) -> float:
    value = article.property(key)
    return value if isinstance(value, (int, float)) else otherwise


def narrow(articles: Iterable[Article], tests: Iterable[Test]) -> Iterator[Article]:
    """The articles that pass all the tests. Nothing is looked at before it is asked for."""
    for test in tests:
        articles = (article for article in articles if test(article))
    return iter(articles)
