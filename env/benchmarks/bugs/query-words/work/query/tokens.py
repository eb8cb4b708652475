# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cut a query into tokens."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List

KEYWORDS = frozenset(
    [
        "select", "from", "where", "and",
        "order", "by", "asc", "desc"
        "limit", "offset",
    ]
)
_TOKEN = re.compile(r"\s*(?:(\d+)|'([^']*)'|(\w+)|(<=|>=|<>|[=<>,*]))")


class QueryError(ValueError):
    """The query cannot be understood."""


@dataclass(frozen=True)
class Token:
    """`kind` is number, text, name, sign, end, or for keywords the keyword."""

    kind: str
    value: str


def tokenize(query: str) -> List[Token]:
    """The tokens of a query and an end token. Keywords may be in any case."""
    tokens: List[Token] = []
    position = 0
    query = query.rstrip()
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise QueryError("cannot read %r" % query[position:])
        number, text, word, sign = match.groups()
        if number is not None:
            tokens.append(Token("number", number))
        elif text is not None:
            tokens.append(Token("text", text))
        elif word is not None:
            low = word.lower()
            tokens.append(Token(low, low) if low in KEYWORDS else Token("name", word))
        else:
            tokens.append(Token("sign", sign))
        position = match.end()
    tokens.append(Token("end", ""))
    return tokens
