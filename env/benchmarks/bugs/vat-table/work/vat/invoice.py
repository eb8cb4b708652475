# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Invoices."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Iterable, List, Tuple

from vat.rates import rate, region_of


@dataclass(frozen=True)
class Item:
    """Net price in cents."""

    kind: str
    net: int


def vat_of(net: int, per_mille: int) -> int:
    """The tax on a net amount, half cents rounded up."""
    return (net * per_mille * 2 + 1000) // 2000


def by_rate(items: Iterable[Item], code: str) -> Dict[int, Tuple[int, int]]:
    """Net amount and tax for each rate that occurs, lowest rate first.

    The tax is worked out on the sum for each rate.
    """
    region = region_of(code)
    sums: Dict[int, int] = {}
    for item in items:
        per_mille = rate(region, item.kind)
        sums[per_mille] = sums.get(per_mille, 0) + item.net
    return {key: (sums[key], vat_of(sums[key], key)) for key in sorted(sums)}


def gross(items: Iterable[Item], code: str) -> int:
    """What the customer pays in cents."""
    return sum(net + tax for net, tax in by_rate(items, code).values())


def lines(items: List[Item], code: str) -> List[str]:
    """The lines at the foot of an invoice."""
    result = []
    for per_mille, (net, tax) in by_rate(items, code).items():
        result.append("%4.1f%%  %8.2f  %8.2f" % (per_mille / 10, net / 100, tax / 100))
    result.append("total  %18.2f" % (gross(items, code) / 100))
    return result
