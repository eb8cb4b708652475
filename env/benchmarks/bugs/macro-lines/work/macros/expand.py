# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Expansion."""
from __future__ import annotations

from typing import List, Mapping, Set

from .words import pieces


def expand(text: str, macros: Mapping[str, str]) -> str:
    """The text with its macros replaced, and the macros in what replaced them, and so on.

    A macro inside of its own replacement, at any depth, is left as it is.
    """
    return "".join(_expand(piece, macros, set()) for _, piece in pieces(text))


def _expand(text: str, macros: Mapping[str, str], inside: Set[str]) -> str:
    result: List[str] = []
    for is_name, piece in pieces(text):
        if is_name and piece in macros and piece not in inside:
            inside.add(piece)
            piece = _expand(macros[piece], macros, inside)
        result.append(piece)
    return "".join(result)
