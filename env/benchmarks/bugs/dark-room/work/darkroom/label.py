# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Labels for bottles."""
from __future__ import annotations

from typing import List

from .baths import Bath
from .formula import parse, written
from .shelf import SHELF

_LOW = str.maketrans("0123456789", "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089")


def label(made: Bath) -> List[str]:
    lines = [f"{made.name}, {made.litres} l"]
    for part, grams in made.grams.items():
        lines.append(f"{part:<24}{grams:>10.3f} g")
    return lines


def short(part: str) -> str:
    """All atoms of a substance, with low numbers."""
    atoms = written(parse(SHELF[part]))
    return "".join(sign + (str(count).translate(_LOW) if count > 1 else "") for sign, count in atoms)
