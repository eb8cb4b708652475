# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cells and their values."""
from __future__ import annotations

from .formula import parse


class CircularReference(Exception):
    """A cell depends on itself."""


class Sheet:
    """Cells by name; what starts with = is a formula, anything else a number. Empty cells count as 0."""

    def __init__(self) -> None:
        self._cells: dict[str, str] = {}

    def set(self, name: str, content: str) -> None:
        self._cells[name] = content.strip()

    def value(self, name: str) -> float:
        return self._value(name, ())

    def _value(self, name: str, above: tuple[str, ...]) -> float:
        if name in above:
            raise CircularReference(" -> ".join(above + (name,)))
        content = self._cells.get(name, "")
        if content.startswith("="):
            return parse(content[1:])(lambda other: self._value(other, above + (name,)))
        return float(content or 0)
