# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Varieties of plants."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Tuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True)
class Variety:
    """A variety, when it is sown, and what a packet costs."""

    name: str
    months: Tuple[int, ...]
    cents: int

    def is_sown_in(self, month: int) -> bool:
        return month in self.months


def parse_months(text: str) -> Tuple[int, ...]:
    """Months of `mar-may` or `nov-jan` or `apr`; ValueError for anything else."""
    first, _, last = text.partition("-")
    start = MONTHS.index(first) + 1
    end = MONTHS.index(last) + 1 if last else start
    length = (end - start) % 12 + 1
    return tuple((start - 1 + i) % 12 + 1 for i in range(length))


def parse_price(text: str) -> int:
    """Cents of a price such as 2.50; ValueError for anything else."""
    whole, point, rest = text.partition(".")
    if point and len(rest) != 2:
        raise ValueError(f"not a price: {text}")
    return int(whole) * 100 + int(rest or 0)
