# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""The accounts of the bank."""
from __future__ import annotations

from typing import Dict, Set

from .errors import BankError, Frozen, NoSuchAccount, NotEnough


class Accounts:
    """Accounts by name. Amounts are cents."""

    def __init__(self) -> None:
        self._balances: Dict[str, int] = {}
        self._frozen: Set[str] = set()

    def open(self, name: str) -> None:
        if name in self._balances:
            raise BankError(f"{name} exists")
        self._balances[name] = 0

    def balance(self, name: str) -> int:
        if name not in self._balances:
            raise NoSuchAccount(name)
        return self._balances[name]

    def deposit(self, name: str, amount: int) -> int:
        self._balances[name] = self.balance(name) + amount
        return self._balances[name]

    def withdraw(self, name: str, amount: int) -> int:
        available = self.balance(name)
        if name in self._frozen:
            raise Frozen(name, amount)
        if amount > available:
            raise NotEnough(name, amount, available)
        return self.deposit(name, -amount)

    def transfer(self, source: str, target: str, amount: int) -> int:
        self.balance(target)
        self.withdraw(source, amount)
        return self.deposit(target, amount)

    def freeze(self, name: str) -> None:
        self.balance(name)
        self._frozen.add(name)
