# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Filters."""
from __future__ import annotations

from typing import Dict, Iterable, List

from .match import matches
from .nodes import Node
from .parse import parse


class Filters:
    """Patterns by name."""

    def __init__(self) -> None:
        self._patterns: Dict[str, Node] = {}

    def define(self, name: str, pattern: str) -> None:
        self._patterns[name] = parse(pattern)

    def names(self, text: str) -> List[str]:
        """The names of the filters that take the text."""
        return [name for name, node in self._patterns.items() if matches(node, text)]

    def keep(self, name: str, texts: Iterable[str]) -> List[str]:
        """The texts a filter takes."""
        return [text for text in texts if matches(self._patterns[name], text)]
