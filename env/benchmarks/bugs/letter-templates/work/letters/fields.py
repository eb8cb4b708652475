# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The places in a template."""
from __future__ import annotations

import re
from typing import List, NamedTuple

PLACE = re.compile(r"\{\{\s*(\w+)((?:\s*\|\s*\w+)*)\s*\}\}")


class Place(NamedTuple):
    """A place where a value goes: {{name}} or {{name|filter|filter}}."""

    text: str
    name: str
    filters: List[str]


def place_of(match: "re.Match[str]") -> Place:
    """The place a match stands for."""
    filters = [part.strip() for part in match[2].split("|") if part.strip()]
    return Place(match[0], match[1], filters)


def names(template: str) -> List[str]:
    """The fields a template asks for, each once, in order."""
    return list(dict.fromkeys(match[1] for match in PLACE.finditer(template)))
