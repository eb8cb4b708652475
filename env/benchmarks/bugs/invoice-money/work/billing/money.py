# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Amounts of money."""
from __future__ import annotations

import re
from dataclasses import dataclass

from .currency import Currency, currency

_AMOUNT = re.compile(r"(-?)(\d+)(?:\.(\d+))?\s+([A-Za-z]{3})")


@dataclass(frozen=True)
class Money:
    """An amount, counted in the smallest coin of its currency; a negative one is owed to the customer."""

    coins: int
    currency: Currency

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read an amount as `str` writes it, such as "-12.50 EUR" or "300 JPY"; decimals may be left out."""
        match = _AMOUNT.fullmatch(text.strip())
        if not match:
            raise ValueError(f"not an amount: {text!r}")
        sign, whole, decimals, code = match.groups()
        kind = currency(code)
        decimals = decimals or ""
        if len(decimals) > kind.places:
            raise ValueError(f"{kind.code} has {kind.places} decimal places: {text!r}")
        coins = int(whole) * kind.unit + int(decimals.ljust(kind.places, "0") or "0")
        return cls(-coins if sign else coins, kind)

    def _same(self, other: Money) -> None:
        if self.currency != other.currency:
            raise ValueError(f"{self.currency.code} and {other.currency.code} do not mix")

    def __add__(self, other: Money) -> Money:
        self._same(other)
        return Money(self.coins + other.coins, self.currency)

    def __neg__(self) -> Money:
        return Money(-self.coins, self.currency)

    def split(self, count: int) -> list[Money]:
        """Equal parts that add up to the amount; those that differ by a coin come first and are farther from 0."""
        each, rest = divmod(abs(self.coins), count)
        parts = [Money(each + (number < rest), self.currency) for number in range(count)]
        return [-part for part in parts] if self.coins < 0 else parts

    def __str__(self) -> str:
        return f"{in_digits(self.coins, self.currency)} {self.currency.code}"


def in_digits(coins: int, kind: Currency) -> str:
    """An amount of coins with the decimal places of the currency."""
    whole, rest = divmod(coins, kind.unit)
    if not kind.places:
        return f"{whole}"
    return f"{whole}.{rest:0{kind.places}d}"
