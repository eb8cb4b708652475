# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rows whose columns are attributes."""
from __future__ import annotations

from typing import Any, Dict, Mapping


class MissingColumn(AttributeError):
    """The row does not have the column."""


class Row:
    """The columns of a row can be read as attributes, beside those the class defines."""

    kind = "row"

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns: Dict[str, Any] = dict(columns)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._columns[name]
        except KeyError:
            raise MissingColumn(f"{self.kind} has no column {name}") from None
