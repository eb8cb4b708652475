# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Documents with definitions."""
from __future__ import annotations

from typing import List

from .book import Book


class Document:
    """Lines of text. Those that begin with "#define" define a macro for the lines below."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def expanded(self) -> str:
        """The text without definitions, with all macros replaced."""
        book = Book()
        result: List[str] = []
        for line in self._lines:
            if line.startswith("#define "):
                book.define(line[len("#define ") :])
            else:
                result.append(book.expand(line))
        return "\n".join(result)
