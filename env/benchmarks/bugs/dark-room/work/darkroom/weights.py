# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Weights of moles."""
from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Dict

from .elements import ELEMENTS
from .formula import parse


class UnknownElement(KeyError):
    """No element has this sign."""


@lru_cache(maxsize=None)
def _weights() -> Dict[str, Decimal]:
    return {sign: Decimal(weight) for sign, _, _, weight in ELEMENTS}


def element(sign: str) -> Decimal:
    """Grams of a mole. Raises UnknownElement."""
    try:
        return _weights()[sign]
    except KeyError:
        raise UnknownElement(sign) from None


def mole(formula: str) -> Decimal:
    """Grams of a mole. Raises BadFormula and UnknownElement."""
    return sum((element(sign) * count for sign, count in parse(formula).items()), Decimal(0))


def share(formula: str, sign: str) -> Decimal:
    """How much of the weight an element has, in hundredths, with two digits."""
    count = parse(formula).get(sign, 0)
    return (100 * element(sign) * count / mole(formula)).quantize(Decimal("0.01"))
