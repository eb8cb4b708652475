# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Build scenes from text."""
from __future__ import annotations

from typing import List

from scene.node import Node
from scene.vectors import Vec


def build(text: str) -> Node:
    """Lines of `name x y`; two spaces more than the line above make a child of it. Everything is below a root."""
    root = Node("root")
    stack: List[Node] = [root]
    for line in text.splitlines():
        if not line.strip():
            continue
        depth = (len(line) - len(line.lstrip())) // 2
        name, x, y = line.split()
        del stack[depth + 1:]
        stack.append(stack[depth].add(Node(name, Vec(float(x), float(y)))))
    return root


def find(root: Node, name: str) -> Node:
    """The first node of that name; KeyError if there is none."""
    for node in root.walk():
        if node.name == name:
            return node
    raise KeyError(name)
