# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Names of cells."""
from __future__ import annotations

import re
from typing import Iterator, Tuple

_NAME = re.compile(r"\$?([A-Z])\$?([1-9]\d*)")


def split(name: str) -> Tuple[str, int]:
    """Column and row. Raises ValueError."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no cell")
    return match[1], int(match[2])


def plain(name: str) -> str:
    """Without the signs that fix it."""
    column, row = split(name)
    return f"{column}{row}"


def area(first: str, last: str) -> Iterator[str]:
    """The cells of an area, row by row."""
    (left, top), (right, bottom) = split(first), split(last)
    for row in range(top, bottom + 1):
        for column in range(ord(left), ord(right) + 1):
            yield f"{chr(column)}{row}"
