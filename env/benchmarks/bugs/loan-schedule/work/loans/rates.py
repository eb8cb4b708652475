# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Amounts and rates."""
from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Union

Number = Union[str, int, float, Decimal]
_CENT = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """The amount rounded to cents; half a cent goes up."""
    return amount.quantize(_CENT, rounding=ROUND_HALF_UP)


def exact(value: Number) -> Decimal:
    """The number as it is written: 0.1 is one tenth."""
    if isinstance(value, bool):
        raise TypeError("a truth value is no number")
    return Decimal(value)


@dataclass(frozen=True)
class Rate:
    """A yearly rate of interest, as a fraction."""

    yearly: Decimal

    @classmethod
    def of(cls, value: Number) -> Rate:
        """A rate from a fraction such as 0.06 or from a percentage such as "6 %"."""
        if isinstance(value, str) and value.rstrip().endswith("%"):
            return cls(exact(value.rstrip()[:-1].strip()) / 100)
        return cls(exact(value))

    def monthly_interest(self, balance: Decimal) -> Decimal:
        """The interest of one month on a balance, in whole cents."""
        return cents(balance * self.yearly / 12)
