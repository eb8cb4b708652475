# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The lexer: follows the table as far as it goes, and takes the longest word."""
from __future__ import annotations

from typing import Iterator, NamedTuple

from .characters import kind
from .table import ENDS, NEXT


class LexError(ValueError):
    """A place where no word begins, or one that does not end."""


class Token(NamedTuple):
    """`kind`: name, number, string or sign."""

    kind: str
    text: str
    line: int


def words(text: str) -> Iterator[Token]:
    """Raises LexError."""
    at, line = 0, 1
    while at < len(text):
        state, end, found = "start", at, ""
        for index in range(at, len(text)):
            state = NEXT.get((state, kind(text[index])), "")
            if not state:
                break
            if state in ENDS:
                end, found = index + 1, ENDS[state]
        if state and state not in ENDS:
            raise LexError(f"line {line}: {text[at:at + 10]!r} does not end")
        if not found:
            raise LexError(f"line {line}: {text[at:at + 10]!r} is no word")
        if found != "skip":
            yield Token(found, text[at:end], line)
        line += text.count("\n", at, end)
        at = end
