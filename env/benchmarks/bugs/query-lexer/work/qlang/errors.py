# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Errors."""
from __future__ import annotations

from .position import Position


class QueryError(Exception):
    """A query is wrong at some place."""

    def __init__(self, message: str, where: Position) -> None:
        super().__init__(f"line {where.line}, column {where.column}: {message}")
        self.message = message
        self.where = where

    def show(self, source: str) -> str:
        """The message below the line of the source, with a caret under the place."""
        lines = source.split("\n")
        line = lines[self.where.line - 1]
        indent = "".join("\t" if c == "\t" else " " for c in line[: self.where.column - 1])
        return f"{line}\n{indent}^ {self.message}"
