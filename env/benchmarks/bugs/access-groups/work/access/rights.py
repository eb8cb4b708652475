# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Rights on documents."""
from __future__ import annotations

from .directory import Directory

_LEVELS = ("none", "read", "write")


class Rights:
    """Grants on documents to groups; the highest grant to any group of a user counts."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._grants: dict[str, dict[str, str]] = {}

    def grant(self, document: str, group: str, level: str) -> None:
        if level not in _LEVELS:
            raise ValueError(f"unknown level {level!r}")
        self._grants.setdefault(document, {})[group] = level

    def level(self, user: str, document: str) -> str:
        """What the user may do with the document: none, read or write."""
        best = 0
        for group, level in self._grants.get(document, {}).items():
            if user in self._directory.users_of(group):
                best = max(best, _LEVELS.index(level))
        return _LEVELS[best]

    def may(self, user: str, document: str, level: str) -> bool:
        return _LEVELS.index(self.level(user, document)) >= _LEVELS.index(level)

    def readers(self, document: str) -> list[str]:
        """Everyone who may read the document."""
        users: set[str] = set()
        for group in self._grants.get(document, {}):
            users |= self._directory.users_of(group)
        return sorted(user for user in users if self.may(user, document, "read"))
