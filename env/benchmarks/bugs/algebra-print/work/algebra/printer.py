# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Printing."""
from __future__ import annotations

from .nodes import Node, Op
from .signs import ATOM, STRENGTH


def strength(node: Node) -> int:
    return STRENGTH[node.sign] if isinstance(node, Op) else ATOM


def show(node: Node) -> str:
    """The formula as text, without needless brackets: reading it gives the same formula."""
    if not isinstance(node, Op):
        return str(node)
    own = STRENGTH[node.sign]
    left = _inside(node.left, own)
    right = _inside(node.right, own)
    return f"{left} {node.sign} {right}"


def _inside(node: Node, least: int) -> str:
    text = show(node)
    return text if strength(node) >= least else f"({text})"
