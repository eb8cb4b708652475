"""Marks texts for people."""

from __future__ import annotations


def message(text: str) -> str:
    """Return a text that only people read: no code may decide by what it says.

    So its wording is no part of the scorer's digest (`env.scoring.digest`).
    """
    return text
