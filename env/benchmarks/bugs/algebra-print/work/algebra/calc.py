# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Calculating."""
from __future__ import annotations

from fractions import Fraction
from typing import Callable, Dict

from .nodes import Node, Op

_SIGNS: Dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "^": lambda a, b: a ** int(b),
}


def calculate(node: Node, **values: int) -> Fraction:
    """The value of a formula with values for its letters."""
    if isinstance(node, Op):
        return _SIGNS[node.sign](calculate(node.left, **values), calculate(node.right, **values))
    return Fraction(values[node] if isinstance(node, str) else node)
