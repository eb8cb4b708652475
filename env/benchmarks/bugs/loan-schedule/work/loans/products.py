# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Loans offered, from a JSON file."""
from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

from .rates import Number, Rate, cents, exact


@dataclass(frozen=True)
class Loan:
    """An amount lent at a rate for a number of months."""

    amount: Decimal
    rate: Rate
    months: int

    @classmethod
    def of(cls, amount: Number, rate: Number, months: int) -> Loan:
        if months < 1:
            raise ValueError("a loan runs for one month at least")
        return cls(cents(exact(amount)), Rate.of(rate), months)


def load_products(text: str) -> dict[str, Loan]:
    """The loans of a JSON text like {"car": {"amount": 9000, "rate": 0.05, "months": 48}}."""
    return {
        name: Loan.of(entry["amount"], entry["rate"], entry["months"])
        for name, entry in json.loads(text).items()
    }
