# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Books of macros."""
from __future__ import annotations

from typing import Dict, List

from .expand import expand


class Book:
    """Macros by name."""

    def __init__(self, **macros: str) -> None:
        self._macros: Dict[str, str] = dict(macros)

    def define(self, line: str) -> None:
        """Take a definition like "NAME = text"."""
        name, _, text = line.partition("=")
        self._macros[name.strip()] = text.strip()

    def expand(self, text: str) -> str:
        """The text with all macros replaced."""
        return expand(text, self._macros)

    def names(self) -> List[str]:
        return sorted(self._macros)
