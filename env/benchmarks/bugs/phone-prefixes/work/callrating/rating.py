# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Prices of calls."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict

from callrating.prefixes import PrefixTree


@dataclass(frozen=True)
class Tariff:
    """Cents for the connection and for each minute begun."""

    connection: int
    minute: int


class UnknownDestination(LookupError):
    """No prefix fits the number."""


def clean(number: str) -> str:
    """The digits of a number as people write it, `00` or `+` in front removed."""
    digits = "".join(c for c in number if c.isdigit())
    return digits[2:] if digits.startswith("00") else digits


def rate_call(tree: PrefixTree, tariffs: Dict[str, Tariff], number: str, seconds: int) -> int:
    """The price of a call in cents. Calls that were not answered (0 seconds) cost nothing.

    A number without a known prefix raises UnknownDestination.
    """
    prefix, name = tree.lookup(clean(number))
    if name is None:
        raise UnknownDestination(number)
    if seconds <= 0:
        return 0
    tariff = tariffs[name]
    return tariff.connection + tariff.minute * (-(-seconds // 60))
