# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A sheet: cells that are computed when they are asked for."""
from __future__ import annotations

from typing import Dict, List, Union

from .energy import ENERGY
from .errors import Circular
from .formula import Formula
from .names import plain

Value = Union[float, str]


class Sheet:
    def __init__(self, text: str = ENERGY) -> None:
        self._cells: Dict[str, str] = {}
        self._values: Dict[str, Value] = {}
        self._open: List[str] = []
        for line in text.splitlines():
            name, colon, content = line.partition(": ")
            if colon:
                self._cells[plain(name.strip())] = content.strip()

    def __contains__(self, name: str) -> bool:
        return name in self._cells

    def set(self, name: str, content: str) -> None:
        """Fill a cell. What was computed is forgotten."""
        self._cells[plain(name)] = content
        self._values.clear()

    def value(self, name: str) -> Value:
        """The value of a cell; of an empty one, the empty text. Raises SheetError."""
        if name in self._values:
            return self._values[name]
        if name in self._open:
            raise Circular(" needs ".join([*self._open[self._open.index(name) :], name]))
        content = self._cells.get(name, "")
        self._open.append(name)
        try:
            self._values[name] = self._computed(content)
        finally:
            self._open.pop()
        return self._values[name]

    def _computed(self, content: str) -> Value:
        if content.startswith("="):
            return Formula(content[1:], self.value).value()
        try:
            return float(content)
        except ValueError:
            return content
