# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reading catalogues."""
from __future__ import annotations

from typing import Dict, Iterable, List, Tuple

from .varieties import Variety, parse_months, parse_price


class CatalogueError(Exception):
    """The catalogue has mistakes. `problems` has the number of each bad line and what is wrong with it."""

    def __init__(self, problems: List[Tuple[int, str]]) -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "; ".join(f"line {number}: {problem}" for number, problem in self.problems)


def _variety(line: str) -> Variety:
    name, months, price = (part.strip() for part in line.split("|"))
    if not name:
        raise ValueError("name is missing")
    return Variety(name, parse_months(months.lower()), parse_price(price))


def read_catalogue(lines: Iterable[str], patient: bool = False) -> Dict[str, Variety]:
    """The varieties of lines such as `Carrot Nantes | mar-jun | 1.95`, by name.

    CatalogueError at the first mistake, or, if `patient`, when all lines are read, with all mistakes; its cause
    is the first mistake.
    """
    result: Dict[str, Variety] = {}
    problems: List[Tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            variety = _variety(line)
            if variety.name in result:
                raise ValueError(f"{variety.name} is there twice")
            result[variety.name] = variety
        except ValueError as error:
            problems.append((number, str(error)))
            if not patient:
                break
    if problems:
        raise CatalogueError(problems) from error
    return result
