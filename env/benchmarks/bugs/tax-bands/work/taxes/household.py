# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""Taxes of households."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import List, Sequence

from taxes.bands import Band, parts


@dataclass
class Household:
    """One or two earners with their incomes, and what may be deducted; whole euros."""

    incomes: List[int]
    deductions: List[int] = field(default_factory=list)

    def taxable(self) -> int:
        """The incomes less the deductions, never negative."""
        return max(0, sum(self.incomes) - sum(self.deductions))


def tax_on(income: int, bands: Sequence[Band]) -> int:
    """The tax in whole euros, rounded down."""
    return sum(amount * per_cent for amount, per_cent in parts(income, bands)) // 100


def tax(household: Household, bands: Sequence[Band]) -> int:
    """The tax of a household: two earners pay twice the tax on half of what they have together."""
    taxable = household.taxable()
    if len(household.incomes) == 2:
        return 2 * tax_on(taxable // 2, bands)
    return tax_on(taxable, bands)


def marginal_rate(household: Household, bands: Sequence[Band]) -> int:
    """The rate in per cent that the next euro is taxed at."""
    income = household.taxable() // len(household.incomes)
    return next(band.per_cent for band in bands if band.upto is None or income < band.upto)
