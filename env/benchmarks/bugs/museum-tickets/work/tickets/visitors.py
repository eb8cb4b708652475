# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Visitors."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Visitor:
    """Who wants to come in."""

    age: int
    card: str = ""


def parse_visitor(text: str) -> Visitor:
    """Read `34` or `34 student`."""
    age, _, card = text.strip().partition(" ")
    return Visitor(int(age), card.strip())
