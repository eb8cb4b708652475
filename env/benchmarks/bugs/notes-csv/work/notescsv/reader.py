# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads CSV text."""
from __future__ import annotations

from typing import Iterator

from .lines import physical_lines, without_ending


class CsvError(ValueError):
    """The text is not proper CSV; `line` is the number of the first line of the record."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


def read_table(text: str, separator: str = ",") -> list[dict[str, str]]:
    """The records of a CSV text by the names in its first record.

    All the records must have as many fields as there are names. Empty lines are skipped.
    """
    rows = _numbered_rows(text, separator)
    names: list[str] = []
    table = []
    for line, fields in rows:
        if not names:
            names = fields
        elif len(fields) != len(names):
            raise CsvError(line, f"{len(names)} fields expected, {len(fields)} found")
        else:
            table.append(dict(zip(names, fields)))
    return table


def read_rows(text: str, separator: str = ",") -> list[list[str]]:
    """The records of a CSV text as lists of fields."""
    return [fields for _, fields in _numbered_rows(text, separator)]


def _numbered_rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    for line, record in _records(text):
        if record:
            yield line, _fields(line, record, separator)


def _records(text: str) -> Iterator[tuple[int, str]]:
    """Records with the number of their first line; a record goes on over lines while a quote is open."""
    pending, first = "", 0
    for number, line in enumerate(physical_lines(text), start=1):
        if not pending:
            first = number
        pending += line
        if pending.count('"') % 2 == 0:
            yield first, without_ending(pending)
            pending = ""
    if pending:
        raise CsvError(first, "a quote is not closed")


def _fields(line: int, record: str, separator: str) -> list[str]:
    fields, position = [], 0
    while True:
        if record.startswith('"', position):
            value, position = _quoted(line, record, position + 1)
            if position < len(record) and record[position] != separator:
                raise CsvError(line, "text after a closing quote")
        else:
            end = record.find(separator, position)
            end = len(record) if end < 0 else end
            value, position = record[position:end], end
        fields.append(value)
        if position >= len(record):
            return fields
        position += 1


def _quoted(line: int, record: str, position: int) -> tuple[str, int]:
    value = ""
    while True:
        end = record.find('"', position)
        if end < 0:
            raise CsvError(line, "a quote is not closed")
        value += record[position:end]
        if not record.startswith('""', end):
            return value, end + 1
        value += '"'
        position = end + 2
