# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The groups of visitors that pay less."""
from __future__ import annotations

from typing import Callable, Dict

from tickets import prices
from tickets.visitors import Visitor

Test = Callable[[Visitor], bool]

GROUPS: Dict[str, Test] = {
    "infant": lambda visitor: visitor.age < 4,
    "child": lambda visitor: visitor.age < 16,
    "student": lambda visitor: visitor.card == "student",
    "senior": lambda visitor: visitor.age >= 67,
}


def group_of(visitor: Visitor) -> str:
    """The cheapest group the visitor belongs to, `adult` if none."""
    fitting = [name for name, test in GROUPS.items() if test(visitor)]
    return min(fitting, key=prices.price_of_group, default="adult")


def may_enter_alone(visitor: Visitor) -> bool:
    """Whether no adult must come along."""
    return not (GROUPS["infant"](visitor) or visitor.age < 10)
