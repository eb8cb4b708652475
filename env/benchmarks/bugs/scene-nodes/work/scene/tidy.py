# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Tidying up."""
from __future__ import annotations

from scene.edit import ungroup
from scene.node import Node


def is_plain_group(node: Node) -> bool:
    """Groups are named with a `+` in front; those marked `+!` are to be kept."""
    return node.name.startswith("+") and not node.name.startswith("+!")


def tidy(root: Node) -> int:
    """Remove empty groups and dissolve groups of one thing, wherever they are; the number of groups gone.

    Things do not move in the world.
    """
    gone = 0
    for child in list(root.children):
        gone += tidy(child)
        if not is_plain_group(child) or len(child.children) > 1:
            continue
        if child.children:
            ungroup(child)
        else:
            child.detach()
        gone += 1
    return gone
