# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What calls cost."""
from __future__ import annotations

from typing import Dict, Iterable, NamedTuple, Tuple

from .numbers import parse
from .rates import RATES

INCLUDED = (0, 0)
"""Calls inside of the company's own network, whose numbers have codes of their own, cost nothing."""


class Bill(NamedTuple):
    """In cents. `free`: calls that cost nothing."""

    total: int
    countries: Dict[str, int]
    calls: int
    free: int


def minutes(seconds: int) -> int:
    """Every minute that was begun counts."""
    return -(-seconds // 60)


def bill(calls: Iterable[Tuple[str, str, int, bool]]) -> Bill:
    """Raises BadNumber."""
    countries: Dict[str, int] = {}
    count = free = 0
    for _, number, seconds, mobile in calls:
        country = parse(number).country
        rate = RATES[country] if country else INCLUDED
        cost = minutes(seconds) * rate[mobile]
        count += 1
        if country:
            countries[country] = countries.get(country, 0) + cost
        else:
            free += 1
    return Bill(sum(countries.values()), dict(sorted(countries.items())), count, free)
