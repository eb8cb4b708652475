# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Recipes, their ingredients, and shopping lists."""
from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Dict, Iterable, List, Optional, Tuple

from kitchen.amounts import format_amount, parse_amount


@dataclass(frozen=True)
class Ingredient:
    """Something to put in. An amount of None means "as much as you like"."""

    name: str
    amount: Optional[Fraction] = None
    unit: str = ""

    @classmethod
    def parse(cls, line: str) -> Ingredient:
        """Read a line such as `200 g flour`."""
        amount, unit, name = parse_amount(line)
        return cls(name, amount, unit)

    def scaled(self, factor: Fraction) -> Ingredient:
        """The same ingredient for `factor` times the servings."""
        return replace(self, amount=self.amount * factor)

    def __str__(self) -> str:
        if self.amount is None:
            return self.name
        return " ".join(filter(None, [format_amount(self.amount), self.unit, self.name]))


@dataclass(frozen=True)
class Recipe:
    """A dish for a number of servings."""

    title: str
    servings: int
    ingredients: Tuple[Ingredient, ...]

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read `Title (servings)` followed by one ingredient on each line."""
        head, *rest = [line.strip() for line in text.strip().splitlines()]
        title, _, count = head.rstrip(")").rpartition("(")
        return cls(title.strip(), int(count), tuple(Ingredient.parse(line) for line in rest if line))

    def scale_to(self, servings: int) -> Recipe:
        """The recipe for another number of servings."""
        if servings < 1:
            raise ValueError("servings must be at least 1")
        factor = Fraction(servings, self.servings)
        return replace(self, servings=servings, ingredients=tuple(i.scaled(factor) for i in self.ingredients))

    def lines(self) -> List[str]:
        """The ingredients as text."""
        return [str(i) for i in self.ingredients]


def shopping_list(recipes: Iterable[Recipe]) -> List[str]:
    """Sum up the ingredients of all recipes, in order of first appearance.

    The same name in another unit is another item. If no recipe gives an
    amount the item has none; otherwise the amounts given are summed.
    """
    items: Dict[Tuple[str, str], Ingredient] = {}
    for recipe in recipes:
        for new in recipe.ingredients:
            key = (new.name, new.unit)
            old = items.get(key)
            if old is None or old.amount is None:
                items[key] = new
            elif new.amount is not None:
                items[key] = replace(old, amount=old.amount + new.amount)
    return [str(i) for i in items.values()]
