# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Writes CSV text."""
from __future__ import annotations

from typing import Iterable, Mapping, Sequence


def write_table(names: Sequence[str], table: Iterable[Mapping[str, str]], separator: str = ",") -> str:
    """CSV text with the names and the records; values are quoted only if they have to be."""
    rows = [list(names)] + [[record.get(name, "") for name in names] for record in table]
    return "".join(separator.join(_quote(value, separator) for value in row) + "\r\n" for row in rows)


def _quote(value: str, separator: str) -> str:
    if any(character in value for character in (separator, '"', "\r", "\n")):
        return '"' + value.replace('"', '""') + '"'
    return value
