# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Statements for customers."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Sequence

from .currency import Currency
from .money import Money, in_digits


@dataclass(frozen=True)
class Entry:
    """A line of a statement."""

    text: str
    amount: Money


def print_statement(kind: Currency, entries: Sequence[Entry], width: int = 32) -> str:
    """The entries with their amounts at the right, and the balance in the last line."""
    balance = Money(0, kind)
    lines = []
    for entry in entries:
        balance += entry.amount
        lines.append(_line(entry.text, str(entry.amount), width))
    lines.append("-" * width)
    lines.append(_line("Balance", f"{in_digits(balance.coins, kind)} {kind.code}", width))
    return "\n".join(lines)


def _line(text: str, amount: str, width: int) -> str:
    room = width - len(amount) - 1
    return f"{text[:room]:<{room}} {amount}"
