# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading queries such as `shirt colour:red price<30`."""
from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Tuple

_CONDITION = re.compile(r"([a-z]+)(:|<|>)(\S+)$")


@dataclass(frozen=True)
class Condition:
    """A property, how it is compared, and with what."""

    key: str
    sign: str
    value: str


@dataclass(frozen=True)
class Query:
    words: Tuple[str, ...]
    conditions: Tuple[Condition, ...]


def parse(text: str) -> Query:
    """The words and the conditions of a query."""
    words: List[str] = []
    conditions: List[Condition] = []
    for part in text.lower().split():
        match = _CONDITION.match(part)
        if match:
            conditions.append(Condition(*match.groups()))
        else:
            words.append(part)
    return Query(tuple(words), tuple(conditions))
