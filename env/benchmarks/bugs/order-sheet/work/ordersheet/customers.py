# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Customers."""
from __future__ import annotations

from typing import Any, Mapping, Union

from .rows import Row


class Member(Row):
    """A customer with an account: columns name, since, bought."""

    kind = "member"

    @property
    def label(self) -> str:
        return f"{self.name} (member since {self.since})"

    def reached(self, amount: int) -> bool:
        """Whether the customer has bought for this much before."""
        return self.bought >= amount


class Guest:
    """Somebody without an account."""

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def label(self) -> str:
        return f"{self.name} (guest)"


Customer = Union[Member, Guest]


def customer(columns: Mapping[str, Any]) -> Customer:
    """A member or, without the column since, a guest."""
    return Member(columns) if "since" in columns else Guest(columns["name"])
