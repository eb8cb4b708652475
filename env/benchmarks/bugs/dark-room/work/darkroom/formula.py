# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads formulas such as Ca(OH)2."""
from __future__ import annotations

import re
from typing import Dict, List, Tuple

_PART = re.compile(r"(?P<sign>[A-Z][a-z]?)|(?P<open>\()|(?P<close>\))|(?P<count>\d+)")


class BadFormula(ValueError):
    """It cannot be read."""


def parse(formula: str) -> Dict[str, int]:
    """How many atoms of each element. Raises BadFormula."""
    open_groups: List[Dict[str, int]] = [{}]
    last: Dict[str, int] = {}
    at = 0
    while at < len(formula):
        match = _PART.match(formula, at)
        if match is None:
            raise BadFormula(f"{formula}: {formula[at]!r}")
        at = match.end()
        if match["count"]:
            if not last or int(match["count"]) == 0:
                raise BadFormula(f"{formula}: {match['count']} of what?")
            _add(open_groups[-1], last, int(match["count"]) - 1)
            last = {}
        elif match["open"]:
            open_groups.append({})
            last = {}
        elif match["close"]:
            if len(open_groups) == 1:
                raise BadFormula(f"{formula}: a bracket is closed that was not opened")
            last = open_groups.pop()
            _add(open_groups[-1], last, 1)
        else:
            last = {match["sign"]: 1}
            _add(open_groups[-1], last, 1)
    if len(open_groups) > 1 or not open_groups[0]:
        raise BadFormula(f"{formula}: it ends too early")
    return open_groups[0]


def _add(group: Dict[str, int], part: Dict[str, int], times: int) -> None:
    for sign, count in part.items():
        group[sign] = group.get(sign, 0) + count * times


def written(atoms: Dict[str, int]) -> List[Tuple[str, int]]:
    """In the usual order: carbon, hydrogen, then by the alphabet."""
    return sorted(atoms.items(), key=lambda pair: ({"C": 0, "H": 1}.get(pair[0], 2), pair[0]))
