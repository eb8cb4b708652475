# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A table of rates."""
from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Dict, List

from .currencies import places


class RateTable:
    """How much of each currency one euro is."""

    def __init__(self) -> None:
        self._rates: Dict[str, Decimal] = {"EUR": Decimal(1)}

    def set(self, code: str, rate: Decimal) -> None:
        """Set a rate: KeyError for an unknown currency, ValueError for a rate that is not above zero."""
        places(code)
        if not rate > 0:
            raise ValueError(f"impossible rate {rate}")
        self._rates[code.upper()] = rate

    def convert(self, amount: Decimal, source: str, target: str) -> Decimal:
        """The amount in the other currency, rounded to its places."""
        value = amount / self._rates[source.upper()] * self._rates[target.upper()]
        return value.quantize(Decimal(1).scaleb(-places(target)), ROUND_HALF_UP)

    def known(self) -> List[str]:
        return sorted(self._rates)
