# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What the desk needs: letters, and totals."""
from __future__ import annotations

from collections import Counter
from typing import Dict, Iterable, List, Tuple

from .book import Book
from .log import attacks

UNKNOWN = "nobody"


def by_owner(book: Book, lines: Iterable[str]) -> "Counter[str]":
    """How many attacks came from each network."""
    count: "Counter[str]" = Counter()
    for entry in attacks(lines):
        network = book.owner(entry.source)
        count[UNKNOWN if network is None else network.name] += 1
    return count


def letters(book: Book, lines: Iterable[str], least: int = 2) -> List[Tuple[str, int]]:
    """Who gets a letter: networks with at least `least` attacks, most first."""
    found = by_owner(book, lines)
    return sorted(
        ((name, count) for name, count in found.items() if count >= least and name != UNKNOWN),
        key=lambda pair: (-pair[1], pair[0]),
    )


def by_country(book: Book) -> Dict[str, int]:
    """How many addresses each country has."""
    sizes: Dict[str, int] = {}
    for network in book:
        sizes[network.country] = sizes.get(network.country, 0) + network.size
    return dict(sorted(sizes.items()))
