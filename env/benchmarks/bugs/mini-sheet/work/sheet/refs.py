# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Cell addresses such as B7 and ranges such as B7:D9."""
from __future__ import annotations

import re
from typing import Iterator, Tuple

ADDRESS = re.compile(r"([A-Z]+)([1-9][0-9]*)")


def column_number(letters: str) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def column_letters(number: int) -> str:
    """The inverse of column_number."""
    letters = ""
    while number:
        number, rest = divmod(number, 26)
        letters = chr(ord("A") + rest - 1) + letters
    return letters


def split(address: str) -> Tuple[int, int]:
    """(column, row) of an address, both counted from 1."""
    match = ADDRESS.fullmatch(address)
    return column_number(match.group(1)), int(match.group(2))


def join(column: int, row: int) -> str:
    """The address of a column and row."""
    return column_letters(column) + str(row)


def expand(first: str, last: str) -> Iterator[str]:
    """All addresses of the rectangle between two corners, row by row."""
    (c1, r1), (c2, r2) = split(first), split(last)
    for row in range(min(r1, r2), max(r1, r2) + 1):
        for column in range(min(c1, c2), max(c1, c2) + 1):
            yield join(column, row)


def shift(address: str, columns: int, rows: int) -> str:
    """The address that many columns to the right and rows down."""
    column, row = split(address)
    return join(column + columns, row + rows)
