# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Splitting formulas into tokens."""
from __future__ import annotations

import re


class FormulaError(ValueError):
    """The formula cannot be understood."""


_TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?)|([A-Z]+\d+)|([-+*/^()]))")


def tokens(text: str) -> list[str]:
    """Numbers, cell names and signs, in order."""
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if not match:
            raise FormulaError(f"cannot read {text[position:].strip()!r}")
        found.append(match.group().strip())
        position = match.end()
    return found
