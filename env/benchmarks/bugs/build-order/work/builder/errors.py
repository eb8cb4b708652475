# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Errors."""
from __future__ import annotations

from typing import Sequence


class Circle(Exception):
    """Targets that depend on each other."""

    def __init__(self, path: Sequence[str]) -> None:
        super().__init__(" -> ".join(path))
        self.path = list(path)


class UnknownTarget(KeyError):
    """There is no such target."""
