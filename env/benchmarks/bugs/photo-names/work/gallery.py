# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The gallery."""
from __future__ import annotations

from typing import List

from photos import free_name, in_order


class Gallery:
    """Photos of a user by name."""

    def __init__(self) -> None:
        self._names: List[str] = []

    def upload(self, name: str) -> str:
        """Add a photo; returns the name it got."""
        name = free_name(name, self._names)
        self._names.append(name)
        return name

    def page(self, number: int, size: int = 4) -> List[str]:
        """A page of the gallery, counted from 1."""
        return in_order(self._names)[(number - 1) * size : number * size]
