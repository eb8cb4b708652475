# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The planner: what has to be found and made for what is wanted."""
from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Set

from .book import Book


class Plan(NamedTuple):
    """`raw`: what has to be found. `made`: how many times each recipe is used, parts before wholes. In minutes: `time`."""

    raw: Dict[str, int]
    made: Dict[str, int]
    time: int
    left: Dict[str, int]


def plan(book: Book, wanted: Mapping[str, int]) -> Plan:
    """Raises UnknownItem."""
    order = _order(book, wanted)
    missing: Dict[str, int] = dict(wanted)
    raw: Dict[str, int] = {}
    made: Dict[str, int] = {}
    left: Dict[str, int] = {}
    time = 0
    for item in reversed(order):
        count = missing.get(item, 0)
        if book.is_raw(item):
            raw[item] = count
            continue
        recipe = book.recipe(item)
        times = -(-count // recipe.count)
        made[item] = times
        time += times * recipe.minutes
        if times * recipe.count > count:
            left[item] = times * recipe.count - count
        for part, each in recipe.parts.items():
            missing[part] = missing.get(part, 0) + each * times
    return Plan(dict(sorted(raw.items())), dict(reversed(list(made.items()))), time, dict(sorted(left.items())))


def _order(book: Book, wanted: Mapping[str, int]) -> List[str]:
    """Every item that is needed, after all of its parts."""
    order: List[str] = []
    seen: Set[str] = set()

    def visit(item: str) -> None:
        if item in seen:
            return
        if not book.is_raw(item):
            for part in book.recipe(item).parts:
                visit(part)
        seen.add(item)
        order.append(item)

    for item in wanted:
        visit(item)
    return order
