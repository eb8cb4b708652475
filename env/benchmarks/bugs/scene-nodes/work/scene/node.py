# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Nodes."""
from __future__ import annotations

import weakref
from typing import Any, Iterator, List, Optional

from scene.vectors import ORIGIN, Vec


class Node:
    """A node with a place relative to its parent. A parent keeps its children alive, not the other way round."""

    def __init__(self, name: str, place: Vec = ORIGIN) -> None:
        self.name = name
        self.place = place
        self.children: List[Node] = []
        self.parent: Optional[Any] = None

    def add(self, child: "Node", index: Optional[int] = None) -> "Node":
        """Make a node a child (at the end, or at `index`), taking it away from its parent; returns the child."""
        child.detach()
        self.children.insert(len(self.children) if index is None else index, child)
        child.parent = weakref.proxy(self)
        return child

    def detach(self) -> None:
        """Take the node, with all below it, away from its parent."""
        if self.parent is not None:
            self.parent.children.remove(self)
            self.parent = None

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def world(self) -> Vec:
        """The place in the world."""
        place, parent = self.place, self.parent
        while parent is not None:
            place, parent = place.plus(parent.place), parent.parent
        return place

    def path(self) -> str:
        """The names from the top, joined with /."""
        return self.name if self.parent is None else self.parent.path() + "/" + self.name
