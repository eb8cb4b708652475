# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Folding: what texts are compared by."""
from __future__ import annotations


def fold(text: str) -> str:
    """The text without regard to case."""
    return text.casefold()
