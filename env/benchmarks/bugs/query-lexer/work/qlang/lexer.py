# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The lexer."""
from __future__ import annotations

import re
from typing import Iterator, NamedTuple

from .errors import QueryError
from .position import Cursor, Position

_TOKEN = re.compile(
    r"""
    (?P<space>(?:\s|--[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)+)
    | (?P<text>'(?:[^']|'')*')
    | (?P<number>\d+(?:\.\d+)?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign><=|>=|!=|[=<>(),])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    kind: str
    text: str
    where: Position


def tokens(source: str) -> Iterator[Token]:
    """The tokens of a source, without space and comments, then one of the kind "end"."""
    cursor = Cursor(source)
    while not cursor.at_end:
        match = _TOKEN.match(source, cursor.index)
        if match is None:
            raise QueryError(f"unexpected {source[cursor.index]!r}", cursor.position)
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match.group(), cursor.position)
        cursor.skip(match.group())
    yield Token("end", "", cursor.position)
