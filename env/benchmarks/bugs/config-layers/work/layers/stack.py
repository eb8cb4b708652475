# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Layers stacked on each other."""
from __future__ import annotations

from copy import deepcopy
from typing import Any, Dict, List

from layers import files
from layers.values import UNSET

Tree = Dict[str, Any]


def overlay(lower: Tree, upper: Tree) -> Tree:
    """A new tree: `lower` with the settings of `upper` laid over it.

    Sections are merged key by key. A setting that is UNSET in `upper` is not
    in the outcome, whether `lower` has it or not. Neither argument is changed.
    """
    result = deepcopy(lower)
    for key, value in upper.items():
        if value is UNSET:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = overlay(result[key], value)
        else:
            result[key] = deepcopy(value)
    return result


class Stack:
    """Configuration files, lowest first."""

    def __init__(self, *texts: str) -> None:
        self._layers: List[Tree] = [files.parse(text) for text in texts]

    def push(self, text: str) -> None:
        """Lay one more file on top."""
        self._layers.append(files.parse(text))

    def effective(self) -> Tree:
        """The outcome of all layers."""
        tree: Tree = {}
        for layer in self._layers:
            tree = overlay(tree, layer)
        return tree

    def get(self, path: str, default: Any = None) -> Any:
        """The effective value at `a.b.key`, or the default if it is not set."""
        node: Any = self.effective()
        for name in path.split("."):
            if not isinstance(node, dict) or name not in node or node[name] is UNSET:
                return default
            node = node[name]
        return node

    def dump(self) -> str:
        """The effective configuration as a file."""
        return files.write(self.effective())
