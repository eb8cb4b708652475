# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""What somebody may have meant."""
from __future__ import annotations

from typing import List

from .words import WORDS


def distance(one: str, other: str) -> int:
    """How many letters have to be changed, added or left out."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def closest(word: str, most: int = 2) -> List[str]:
    """The words of the list that are nearest to a word, if they are near at all."""
    ranked = sorted((distance(word, known), known) for known in WORDS)
    return [known for far, known in ranked if far == ranked[0][0] and far <= most]
