# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The book of recipes."""
from __future__ import annotations

from typing import Dict, Iterable, Iterator, List, Optional, Set

from .reader import Recipe, read
from .recipes import RAW, RECIPES


class UnknownItem(KeyError):
    """It is neither made nor found."""


class Book:
    def __init__(self, recipes: Optional[Iterable[Recipe]] = None, raw: Iterable[str] = RAW) -> None:
        self._recipes: Dict[str, Recipe] = {each.item: each for each in (read(RECIPES) if recipes is None else recipes)}
        self._raw = set(raw)

    def __iter__(self) -> Iterator[Recipe]:
        return iter(self._recipes.values())

    def is_raw(self, item: str) -> bool:
        return item in self._raw

    def recipe(self, item: str) -> Recipe:
        """Raises UnknownItem."""
        try:
            return self._recipes[item]
        except KeyError:
            raise UnknownItem(item) from None

    def uses(self, item: str) -> List[str]:
        """What an item is directly a part of."""
        return sorted(recipe.item for recipe in self if item in recipe.parts)

    def unknown(self) -> Set[str]:
        """Parts of recipes that are neither made nor found."""
        return {part for recipe in self for part in recipe.parts if part not in self._recipes and part not in self._raw}
