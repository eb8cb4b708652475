# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Formulas as tokens."""
from __future__ import annotations

import re
from typing import List, NamedTuple

from .errors import SheetError

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<cell>\$?[A-Z]\$?[1-9]\d*)(?![A-Z(])|(?P<function>[A-Z]+)(?=\()"
    r"|(?P<sign><=|>=|<>|[-+*/(),:<>=]))"
)


class Token(NamedTuple):
    kind: str
    text: str


def tokens(formula: str) -> List[Token]:
    """Raises SheetError."""
    found, at = [], 0
    while at < len(formula.rstrip()):
        match = _TOKEN.match(formula, at)
        if match is None:
            raise SheetError(f"{formula!r} from {formula[at:]!r} on")
        found.append(Token(str(match.lastgroup), match[str(match.lastgroup)]))
        at = match.end()
    return found
