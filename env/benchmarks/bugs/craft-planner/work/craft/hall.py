# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The hall: places work side by side, each at one thing at a time."""
from __future__ import annotations

from typing import Dict, List, NamedTuple

from .book import Book
from .planner import Plan


class Shift(NamedTuple):
    place: str
    item: str
    begin: int
    end: int


def shifts(book: Book, made: Plan) -> List[Shift]:
    """When what is made where. A thing is begun when all its parts are there."""
    ready: Dict[str, int] = {}
    free: Dict[str, int] = {}
    found = []
    for item, times in made.made.items():
        recipe = book.recipe(item)
        begin = max([free.get(recipe.place, 0), *(ready.get(part, 0) for part in recipe.parts)])
        end = begin + times * recipe.minutes
        ready[item] = free[recipe.place] = end
        found.append(Shift(recipe.place, item, begin, end))
    return found
