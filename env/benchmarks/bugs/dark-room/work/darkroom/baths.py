# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Baths, in grams and in moles."""
from __future__ import annotations

from decimal import Decimal
from typing import Dict, Mapping, NamedTuple

from .recipes import BATHS
from .shelf import SHELF
from .weights import mole


class Bath(NamedTuple):
    name: str
    litres: Decimal
    grams: Dict[str, Decimal]

    @property
    def weight(self) -> Decimal:
        return sum(self.grams.values(), Decimal(0))


def bath(name: str, litres: str = "1") -> Bath:
    """What so many litres take. Raises KeyError for a bath that is in no book."""
    size = Decimal(litres)
    return Bath(name, size, {part: Decimal(str(grams)) * size for part, grams in BATHS[name].items()})


def moles(made: Bath) -> Dict[str, Decimal]:
    """Thousandths of a mole of each part, with two digits."""
    return {
        part: (1000 * grams / mole(SHELF[part])).quantize(Decimal("0.01")) for part, grams in made.grams.items()
    }


def from_moles(name: str, amounts: Mapping[str, str]) -> Bath:
    """A litre of a bath whose parts are given in thousandths of a mole, with three digits of a gram."""
    grams = {
        part: (Decimal(amount) * mole(SHELF[part]) / 1000).quantize(Decimal("0.001")) for part, amount in amounts.items()
    }
    return Bath(name, Decimal(1), grams)
