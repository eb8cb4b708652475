# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Changes to a scene that keep every thing where it is in the world."""
from __future__ import annotations

from typing import List

from scene.node import Node
from scene.vectors import Vec


def move_under(node: Node, parent: Node) -> None:
    """Give the node another parent."""
    place = node.world().minus(parent.world())
    parent.add(node)
    node.place = place


def group(name: str, nodes: List[Node], parent: Node) -> Node:
    """Put nodes into a new group under `parent`, at the place of the first one."""
    made = parent.add(Node(name, nodes[0].world().minus(parent.world())))
    for node in nodes:
        move_under(node, made)
    return made


def ungroup(node: Node) -> List[Node]:
    """Dissolve a group: its children take its place among its siblings, in their order. Returns them."""
    parent, index = node.parent, node.parent.children.index(node)
    freed = list(node.children)
    for child in freed:
        child.place = child.place.plus(node.place)
    parent.children[index:index + 1] = freed
    node.parent = None
    return freed
