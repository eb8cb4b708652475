# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The names things are sorted by."""
from __future__ import annotations

ARTICLES = ("the", "a", "an", "die", "les")


def sort_name(name: str) -> str:
    """The name without regard to case and white space around it, and without an article in front.

    An article is a word of its own; a name that is nothing but an article is left alone.
    """
    folded = " ".join(name.casefold().split())
    for article in ARTICLES:
        if folded.startswith(article + " "):
            return folded.lstrip(article + " ")
    return folded
