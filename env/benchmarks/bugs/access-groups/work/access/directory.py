# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Groups of users; groups may include other groups, also each other."""
from __future__ import annotations

from typing import Iterable


class UnknownGroup(KeyError):
    """There is no group of this name."""


class Directory:
    """Groups by name. The users of a group are those in it and in all the groups it includes, at any depth.

    The users of a group are worked out once and kept until a group changes.
    """

    def __init__(self) -> None:
        self._users: dict[str, set[str]] = {}
        self._included: dict[str, list[str]] = {}
        self._known: dict[str, frozenset[str]] = {}

    def define(self, group: str, users: Iterable[str] = (), includes: Iterable[str] = ()) -> None:
        """Define a group, or define it anew. Groups included may be defined later."""
        self._users[group] = set(users)
        self._included[group] = list(includes)
        self._known.clear()

    def join(self, group: str, user: str) -> None:
        """Put a user into a group."""
        self._check(group)
        self._users[group].add(user)
        self._known.clear()

    def quit(self, group: str, user: str) -> None:
        """Take a user out of a group (but not out of the groups it includes)."""
        self._check(group)
        self._users[group].discard(user)
        self._known.clear()

    def groups(self) -> list[str]:
        return sorted(self._users)

    def users_of(self, group: str) -> frozenset[str]:
        """All the users of a group."""
        if group not in self._known:
            self._check(group)
            found = frozenset(self._users[group])
            self._known[group] = found
            for name in self._included[group]:
                found |= self.users_of(name)
            self._known[group] = found
        return self._known[group]

    def groups_of(self, user: str) -> list[str]:
        """The groups a user belongs to, directly or not, by name."""
        return [group for group in self.groups() if user in self.users_of(group)]

    def _check(self, group: str) -> None:
        if group not in self._users:
            raise UnknownGroup(group)
