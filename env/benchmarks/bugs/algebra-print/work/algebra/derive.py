# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Derivatives."""
from __future__ import annotations

from .nodes import Node, Op


def derive(node: Node, letter: str) -> Node:
    """The derivative, not simplified. Exponents must be numbers."""
    if not isinstance(node, Op):
        return 1 if node == letter else 0
    left, right = node.left, node.right
    if node.sign == "^":
        if not isinstance(right, int):
            raise ValueError("exponents must be numbers")
        return Op("*", Op("*", right, Op("^", left, right - 1)), derive(left, letter))
    dl, dr = derive(left, letter), derive(right, letter)
    if node.sign in "+-":
        return Op(node.sign, dl, dr)
    if node.sign == "*":
        return Op("+", Op("*", dl, right), Op("*", left, dr))
    return Op("/", Op("-", Op("*", dl, right), Op("*", left, dr)), Op("^", right, 2))
