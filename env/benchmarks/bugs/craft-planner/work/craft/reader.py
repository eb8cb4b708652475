# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Reads recipes."""
from __future__ import annotations

import re
from typing import Dict, List, NamedTuple

_HEAD = re.compile(r"(?P<item>\w+) x(?P<count>\d+) at (?P<place>\w+) in (?P<minutes>\d+)")
_PART = re.compile(r"    (?P<count>\d+) (?P<item>\w+)")


class BadRecipes(ValueError):
    """A line that cannot be understood."""


class Recipe(NamedTuple):
    """`count` pieces of the item come of `parts`: item -> how many."""

    item: str
    count: int
    place: str
    minutes: int
    parts: Dict[str, int]


def read(text: str) -> List[Recipe]:
    """Raises BadRecipes."""
    found: List[Recipe] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        head, part = _HEAD.fullmatch(line), _PART.fullmatch(line)
        if head:
            found.append(Recipe(head["item"], int(head["count"]), head["place"], int(head["minutes"]), {}))
        elif part and found:
            found[-1].parts[part["item"]] = int(part["count"])
        else:
            raise BadRecipes(f"line {number}: {line!r}")
    return found
