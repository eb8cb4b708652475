# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Classes of characters."""
from __future__ import annotations

_SINGLE = {
    ".": "dot",
    '"': "quote",
    "/": "slash",
    "*": "star",
    "\n": "newline",
    "=": "equals",
    "<": "less",
    ">": "greater",
    "-": "minus",
    "+": "plus",
    "!": "exclaim",
    "_": "under",
    "e": "e",
    "E": "e",
}


def kind(character: str) -> str:
    """The class of a character."""
    if character in _SINGLE:
        return _SINGLE[character]
    if character.isspace():
        return "space"
    if character.isalpha():
        return "letter"
    if character in "0123456789":
        return "digit"
    return "other"
