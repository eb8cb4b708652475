# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Baskets and coupons."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import FrozenSet, List


@dataclass(frozen=True)
class Line:
    """A line of a basket; prices in cents."""

    article: str
    price: int
    count: int = 1

    @property
    def total(self) -> int:
        return self.price * self.count


@dataclass(frozen=True)
class Coupon:
    """Takes `percent` off, or `cents` off if percent is 0, on all articles or on those named."""

    code: str
    percent: int = 0
    cents: int = 0
    articles: FrozenSet[str] = frozenset()
    minimum: int = 0
    flags: FrozenSet[str] = frozenset()

    def covers(self, line: Line) -> bool:
        """Whether the line counts for this coupon."""
        return not self.articles or line.article in self.articles

    def shareable(self) -> bool:
        """Whether the coupon may be used together with others."""
        return "alone" not in self.flags

    def stackable(self) -> bool:
        """Whether the coupon may be used more than once in a basket."""
        return "again" in self.flags


@dataclass
class Basket:
    """What a customer buys and the coupons accepted so far."""

    lines: List[Line] = field(default_factory=list)
    accepted: List[Coupon] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(line.total for line in self.lines)

    def add(self, article: str, price: int, count: int = 1) -> None:
        self.lines.append(Line(article, price, count))
