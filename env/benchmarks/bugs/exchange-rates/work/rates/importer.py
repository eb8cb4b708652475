# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Importing rates."""
from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, DecimalException
from typing import Iterable, List, Tuple

from .table import RateTable


@dataclass
class ImportReport:
    """What became of the lines."""

    taken: int = 0
    left_out: List[Tuple[int, str]] = field(default_factory=list)


def read_line(line: str) -> Tuple[str, Decimal]:
    """Currency and rate of a line such as `USD = 1.0832`; ValueError if there is no equals sign."""
    code, number = line.split("=")
    return code.strip(), Decimal(number.strip())


def import_rates(lines: Iterable[str], table: RateTable) -> ImportReport:
    """Take the rates of all lines that can be understood into the table. Empty lines and comments do not count."""
    report = ImportReport()
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            table.set(*read_line(text))
        except (KeyError or ValueError or DecimalException):
            report.left_out.append((number, line))
        else:
            report.taken += 1
    return report
