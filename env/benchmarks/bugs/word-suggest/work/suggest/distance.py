# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The distance of two words."""
from __future__ import annotations

from typing import List, Optional


def distance(a: str, b: str, limit: Optional[int] = None) -> int:
    """How many steps at least lead from one word to the other.

    A step puts in a letter, leaves one out, changes one, or swaps two neighbours; no letter is touched
    twice. Any distance above the limit is given as limit + 1, which saves most of the work.
    """
    if limit is None:
        limit = len(a) + len(b)
    far = limit + 1
    if abs(len(a) - len(b)) > limit:
        return far
    rows: List[List[int]] = [list(range(len(b) + 1)), [far] * (len(b) + 1), [far] * (len(b) + 1)]
    for i, letter in enumerate(a, 1):
        before, last, row = rows[(i - 2) % 3], rows[(i - 1) % 3], rows[i % 3]
        low, high = max(1, i - limit), min(len(b), i + limit)
        row[0] = i
        for j in range(low, high + 1):
            other = b[j - 1]
            steps = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and other == a[i - 2]:
                steps = min(steps, before[j - 2] + 1)
            row[j] = steps
        if high < len(b):
            row[high + 1] = far
    return min(rows[len(a) % 3][-1], far)
