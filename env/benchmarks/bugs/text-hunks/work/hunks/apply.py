# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Applying patches."""
from __future__ import annotations

from typing import List

from .errors import DoesNotFit
from .reader import read


def apply(text: str, patch: str, reverse: bool = False) -> str:
    """The text after the patch; with `reverse`, the text before it. Every line ends with a newline."""
    lines = text.splitlines()
    result: List[str] = []
    done = 0
    for hunk in read(patch):
        if reverse:
            hunk = hunk.reversed()
        start, before = hunk.old.index, hunk.side("-")
        if start < done or lines[start : start + len(before)] != before:
            raise DoesNotFit(f"no such lines at {hunk.old.start}")
        result += lines[done:start] + hunk.side("+")
        done = start + len(before)
    result += lines[done:]
    return "".join(line + "\n" for line in result)
