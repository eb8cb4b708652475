# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Errors that travel between server and client."""
from __future__ import annotations


class BankError(Exception):
    """Anything the bank refuses. It SHALL survive the way over the wire with its text and its attributes."""


class NoSuchAccount(BankError):
    """There is no account of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no account {self.name}"


class NotEnough(BankError):
    """The account has less than is asked for."""

    def __init__(self, name: str, wanted: int, available: int) -> None:
        super().__init__(f"{name} has {available}, {wanted - available} less than wanted")
        self.name = name
        self.wanted = wanted
        self.available = available

    @property
    def missing(self) -> int:
        return self.wanted - self.available


class Frozen(NotEnough):
    """Nothing can be taken at the moment."""

    def __init__(self, name: str, wanted: int, available: int = 0) -> None:
        super().__init__(name, wanted, available)

    def __str__(self) -> str:
        return f"{self.name} is frozen"
