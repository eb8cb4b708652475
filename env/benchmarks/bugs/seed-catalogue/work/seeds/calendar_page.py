# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
"""A page per month."""
from __future__ import annotations

from typing import List, Mapping

from .varieties import MONTHS, Variety


def month_page(varieties: Mapping[str, Variety], month: int) -> List[str]:
    """What is sown in a month, cheapest first."""
    sown = [one for one in varieties.values() if one.is_sown_in(month)]
    lines = [f"{one.name}: {one.cents / 100:.2f}" for one in sorted(sown, key=lambda one: (one.cents, one.name))]
    return [MONTHS[month - 1].upper(), *lines]
