# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Account names: levels separated by colons."""
from __future__ import annotations

from typing import Iterable, List

SEPARATOR = ":"


def is_within(account: str, group: str) -> bool:
    """Whether `account` is the group itself or an account at any level below it."""
    return account.startswith(group)


def parents(account: str) -> List[str]:
    """The groups an account is in, outermost first, without itself."""
    parts = account.split(SEPARATOR)
    return [SEPARATOR.join(parts[:n]) for n in range(1, len(parts))]


def with_groups(accounts: Iterable[str]) -> List[str]:
    """All the accounts and their groups, sorted, each once."""
    names = set()
    for account in accounts:
        names.add(account)
        names.update(parents(account))
    return sorted(names)
